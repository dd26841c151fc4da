// Traversal of a graph and the graphs inside it.
#pragma once

#include "graph_state.hpp"

namespace cudag::detail {

/// Calls `visit(each)` for `graph`, then for all graphs inside its nodes, in order. Reads a captured graph.
template <class Visit>
void for_each_graph(const GraphState& graph, const Visit& visit) {
    visit(graph);
    for (const auto& inner : graph.nested())
        for_each_graph(*inner, visit);
}

} // namespace cudag::detail
