// Graphs with a node that cudag does not know: a conditional that it did not make.
#pragma once

#include <array>
#include <vector>

#include "native.hpp"

/// store(cell, value), in `graph`, after `from`.
inline cudaGraphNode_t add_raw_store(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& from, int* cell,
                                     int value) {
    std::array<void*, 2> arguments{&cell, &value};
    cudaKernelNodeParams launch{};
    launch.func = const_cast<void*>(cudag::detail::kernel_symbol(store));
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(1);
    launch.kernelParams = arguments.data();
    return add_native_kernel(graph, from, launch);
}

/// if (true) store(cell, value), likewise.
inline cudaGraphNode_t add_raw_conditional(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& from, int* cell,
                                           int value, cudaGraphConditionalNodeType type = cudaGraphCondTypeIf) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.type = type;
    params.conditional.size = 1;
    cudag::check(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t node = nullptr;
    cudag::check(add_any_node(&node, graph, from.data(), from.size(), &params));
    add_raw_store(params.conditional.phGraph_out[0], {}, cell, value);
    return node;
}

/// Puts such a node into the capture of `stream`, as a library might; in a stream that is not captured, stores.
inline void enqueue_conditional(cudaStream_t stream, int* cell, int value) {
    cudaStreamCaptureStatus status{};
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t* front = nullptr;
    std::size_t count = 0;
    cudag::check(get_capture_front(stream, &status, &graph, &front, &count));
    if (status != cudaStreamCaptureStatusActive) return cudag::launch(stream, {}, store, cell, value);
    cudaGraphNode_t node = add_raw_conditional(graph, {front, front + count}, cell, value);
    cudag::check(set_capture_front(stream, &node));
}
