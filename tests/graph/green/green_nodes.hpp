// What the tests of green contexts share.
#pragma once

#include <cuda.h>

#include "driver_functions.hpp"
#include "test.hpp"

#include <vector>

/// Whether the driver here has green contexts with streams; says so if not.
inline bool has_green_contexts() {
    const bool has = driver_function("cuGreenCtxStreamCreate", 12050) != nullptr;
    if (!has) WARN("skipped: it needs a driver with green contexts");
    return has;
}

/// The context that CUDA reports for each kernel of `graph`, in order.
inline std::vector<CUcontext> contexts_of(const cudag::Graph& graph) {
    using Get = CUresult(CUDAAPI*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*);
    const auto get = reinterpret_cast<Get>(driver_function("cuGraphKernelNodeGetParams", 12000));
    const cudaGraph_t native = graph.native();
    std::size_t count = 0;
    cudag::check(cudaGraphGetNodes(native, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    cudag::check(cudaGraphGetNodes(native, nodes.data(), &count));
    std::vector<CUcontext> contexts;
    for (const cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type{};
        cudag::check(cudaGraphNodeGetType(node, &type));
        if (type != cudaGraphNodeTypeKernel) continue;
        CUDA_KERNEL_NODE_PARAMS params{};
        CHECK(get(node, &params) == CUDA_SUCCESS);
        contexts.push_back(params.ctx);
    }
    return contexts;
}
