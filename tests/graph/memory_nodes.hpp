// What the tests of graph memory share.
#pragma once

#include <cstddef>
#include <utility>

#include "native_nodes.hpp"
#include "test.hpp"

inline cudaMemAllocNodeParams alloc_params(const cudag::Node& node) {
    return native_alloc(node.native());
}

inline void* freed_address(const cudag::Node& node) {
    return native_freed(node.native());
}

/// How many nodes CUDA knows in a graph.
inline std::size_t native_count(const cudag::Graph& graph) {
    std::size_t count = 0;
    cudag::check(cudaGraphGetNodes(graph.native(), nullptr, &count));
    return count;
}

/// What a builder with one node refuses; it still has one node afterwards, for cudag and for CUDA.
inline cudag::GraphError refused_in_builder(CallRef<cudag::GraphBuilder&> add,
                                            cudaError_t code = cudaErrorInvalidValue) {
    cudag::GraphBuilder b;
    b.host([] {});
    const auto error = refused<cudag::GraphError>([&] { add(b); });
    CHECK(error.code() == cuda_code(code));
    const cudag::Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 1);
    CHECK(native_count(graph) == 1);
    return error;
}
