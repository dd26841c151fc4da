// What CUDA itself says about a graph and its nodes.
#pragma once

#include <utility>
#include <vector>

#include "cuda_edges.hpp"
#include "native_nodes.hpp"
#include "test.hpp"

inline cudaKernelNodeParams kernel_params(const cudag::Node& node) {
    return native_kernel(node.native());
}

/// Argument `index` of a kernel node, as CUDA has copied it.
template <class T>
T kernel_argument(const cudag::Node& node, int index) {
    return *static_cast<const T*>(kernel_params(node).kernelParams[index]);
}

inline cudaMemcpy3DParms memcpy_params(const cudag::Node& node) {
    return native_memcpy(node.native());
}

inline cudaMemsetParams memset_params(const cudag::Node& node) {
    return native_memset(node.native());
}

inline cudaGraphNodeType native_type(const cudag::Node& node) {
    cudaGraphNodeType type{};
    cudag::check(cudaGraphNodeGetType(node.native(), &type));
    return type;
}

using NativeEdges = std::vector<std::pair<cudaGraphNode_t, cudaGraphNode_t>>;

inline NativeEdges native_edges(cudaGraph_t graph) {
    std::size_t count = 0;
    cudag::check(get_edges(graph, nullptr, nullptr, nullptr, &count));
    std::vector<cudaGraphNode_t> from(count);
    std::vector<cudaGraphNode_t> to(count);
    if (count != 0) cudag::check(get_edges(graph, from.data(), to.data(), nullptr, &count));
    NativeEdges edges(count);
    for (std::size_t i = 0; i < count; ++i)
        edges[i] = {from[i], to[i]};
    return edges;
}

inline std::vector<cudaGraphNode_t> native_nodes(cudaGraph_t graph) {
    std::size_t count = 0;
    cudag::check(cudaGraphGetNodes(graph, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    if (count != 0) cudag::check(cudaGraphGetNodes(graph, nodes.data(), &count));
    return nodes;
}
