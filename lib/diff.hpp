// Compares graphs: their structure, and the parameters of their nodes.
#pragma once

#include "graph_state.hpp"

#include <cudag/diff.hpp>

#include <functional>
#include <string>
#include <vector>

namespace cudag::detail {

/// The parameters in force in a node of the first graph: a graph's own, or those that an exec has.
using ParamsOf = std::function<const NodeParams&(const GraphState& graph, std::uint32_t index)>;

/// Calls `visit(before, after)` for every pair of graphs that stand at the same place in two trees: the roots first.
template <class Visit>
void for_each_graph_pair(const GraphState& before, const GraphState& after, const Visit& visit) {
    visit(before, after);
    const std::size_t inner = std::min(before.nested().size(), after.nested().size());
    for (std::size_t i = 0; i < inner; ++i)
        for_each_graph_pair(*before.nested()[i], *after.nested()[i], visit);
}

/// Nodes, kinds of nodes and edges; without an allocation where they are equal.
[[nodiscard]] std::vector<Difference> diff_structure(const GraphState& before, const GraphState& after);

/// Parameters of the nodes that both have.
[[nodiscard]] std::vector<Difference> diff_nodes(const GraphState& before, const ParamsOf& params_before,
                                                 const GraphState& after);

} // namespace cudag::detail
