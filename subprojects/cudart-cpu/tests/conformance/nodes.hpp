// Short ways to add the nodes that the tests need, and to read a graph back.
#pragma once

#include "call.hpp"
#include "handles.hpp"
#include "memory.hpp"

#include <cstddef>
#include <utility>
#include <vector>

using Nodes = std::vector<cudaGraphNode_t>;
using Edges = std::vector<std::pair<cudaGraphNode_t, cudaGraphNode_t>>;

inline cudaGraphNode_t add_empty(cudaGraph_t graph, const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddEmptyNode(&node, graph, after.data(), after.size()));
    return node;
}

template <class... P>
cudaGraphNode_t add_kernel(cudaGraph_t graph, Call<P...>& call, const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    const cudaKernelNodeParams params = call.params();
    REQUIRE_CUDA(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
    return node;
}

inline cudaGraphNode_t add_host(cudaGraph_t graph, const cudaHostNodeParams& params, const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddHostNode(&node, graph, after.data(), after.size(), &params));
    return node;
}

inline cudaGraphNode_t add_memcpy(cudaGraph_t graph, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                  const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddMemcpyNode1D(&node, graph, after.data(), after.size(), to, from, bytes, kind));
    return node;
}

/// Sets `count` ints to `value`.
inline cudaMemsetParams set_ints(int* to, std::size_t count, int value) {
    cudaMemsetParams params{};
    params.dst = to;
    params.elementSize = sizeof(int);
    params.width = count;
    params.height = 1;
    params.value = static_cast<unsigned>(value);
    return params;
}

inline cudaGraphNode_t add_memset(cudaGraph_t graph, const cudaMemsetParams& params, const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params));
    return node;
}

inline void add_edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
    REQUIRE_CUDA(cudaGraphAddDependencies(graph, &from, &to, nullptr, 1));
}

inline cudaGraphNode_t in_clone(cudaGraphNode_t original, cudaGraph_t clone) {
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphNodeFindInClone(&node, original, clone));
    return node;
}

inline Nodes nodes_of(cudaGraph_t graph) {
    std::size_t count = 0;
    REQUIRE_CUDA(cudaGraphGetNodes(graph, nullptr, &count));
    Nodes nodes(count);
    if (count > 0) {
        REQUIRE_CUDA(cudaGraphGetNodes(graph, nodes.data(), &count));
    }
    return nodes;
}

inline Edges edges_of(cudaGraph_t graph) {
    std::size_t count = 0;
    REQUIRE_CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    Nodes from(count);
    Nodes to(count);
    if (count > 0) {
        REQUIRE_CUDA(cudaGraphGetEdges(graph, from.data(), to.data(), nullptr, &count));
    }
    Edges edges(count);
    for (std::size_t i = 0; i < count; ++i) {
        edges[i] = {from[i], to[i]};
    }
    return edges;
}

/// A handle that CUDA never gives out: an out-parameter that still holds it was not written.
template <class Handle>
Handle untouched() {
    static char object;
    return reinterpret_cast<Handle>(&object);
}
