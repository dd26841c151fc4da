// Traversal of a graph and the graphs inside it.
#pragma once

#include "graph_tree.hpp"

namespace cudag::detail {

class GraphState;

/// Calls `visit(each)` for `graph`, then for all graphs inside its nodes, in order. Reads a captured graph.
template <class Visit>
void for_each_graph(const GraphState& graph, const Visit& visit) {
    visit(graph);
    for (const auto& inner : nested_of(graph))
        for_each_graph(*inner, visit);
}

} // namespace cudag::detail
