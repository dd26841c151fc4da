// Graphs whose nodes CUDA knows as empty ones, whatever their records say.
#pragma once

#include "graph/graph_state.hpp"

#include "catch.hpp"

#include <memory>
#include <utility>

inline std::shared_ptr<cudag::detail::GraphState> empty_graph() {
    cudaGraph_t native = nullptr;
    REQUIRE(cudaGraphCreate(&native, 0) == cudaSuccess);
    return std::make_shared<cudag::detail::GraphState>(native);
}

inline void add_node(cudag::detail::GraphState& graph,
                     cudag::detail::NodeRecord record = {cudag::NodeKind::empty, {}, {}, {}}) {
    graph.reserve_node();
    cudaGraphNode_t node = nullptr;
    REQUIRE(cudaGraphAddEmptyNode(&node, graph.native(), nullptr, 0) == cudaSuccess);
    graph.append(node, std::move(record));
}
