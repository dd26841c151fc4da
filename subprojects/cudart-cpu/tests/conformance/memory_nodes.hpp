// Alloc and free nodes for the tests.
#pragma once

#include "nodes.hpp"

#include <cstddef>

inline cudaMemAllocNodeParams alloc_params(std::size_t bytes) {
    cudaMemAllocNodeParams params{};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.poolProps.location.id = 0;
    params.bytesize = bytes;
    return params;
}

struct Allocation {
    cudaGraphNode_t node;
    int* data;
};

/// An alloc node of `count` ints.
inline Allocation add_alloc(cudaGraph_t graph, std::size_t count, const Nodes& after = {}) {
    cudaMemAllocNodeParams params = alloc_params(count * sizeof(int));
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddMemAllocNode(&node, graph, after.data(), after.size(), &params));
    REQUIRE(params.dptr != nullptr);
    return {node, static_cast<int*>(params.dptr)};
}

inline cudaGraphNode_t add_free(cudaGraph_t graph, void* data, const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddMemFreeNode(&node, graph, after.data(), after.size(), data));
    return node;
}

/// A graph whose launches leave 4 ints of `value` allocated.
struct LeavingGraph {
    explicit LeavingGraph(int value = 7)
        : allocation(add_alloc(graph, 4)),
          set(add_memset(graph, set_ints(allocation.data, 4, value), {allocation.node})) {}

    Graph graph;
    Allocation allocation;
    cudaGraphNode_t set;
    int* data() const { return allocation.data; }
};

/// A graph that frees what another one leaves.
struct FreeingGraph {
    explicit FreeingGraph(void* data) : node(add_free(graph, data)) {}

    Graph graph;
    cudaGraphNode_t node;
};

inline int first_of(const int* data) {
    int value = poison;
    REQUIRE_CUDA(cudaMemcpy(&value, data, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}
