// Compares graphs: their structure, and the parameters of their nodes.
#pragma once

#include "graph/in_force.hpp"

#include <cudag/diff.hpp>

#include <string>
#include <vector>

namespace cudag::detail {

/// Calls `visit(before, after)` for every pair of graphs that stand at the same place in two trees: the roots first,
/// then those inside nodes of the same number, and there of the same number.
template <class Visit>
void for_each_graph_pair(const GraphState& before, const GraphState& after, const Visit& visit) {
    visit(before, after);
    for (const auto& inner : before.nested())
        if (const auto* other = after.find_nested(inner->parent_node(), inner->number());
            other != nullptr && (*other)->place() == inner->place())
            for_each_graph_pair(*inner, **other, visit);
}

/// The first ten, one a line, and how many more there are.
[[nodiscard]] std::string list_differences(const std::vector<Difference>& differences);

/// Nodes, kinds of nodes and edges; without an allocation where they are equal.
[[nodiscard]] std::vector<Difference> diff_structure(const GraphState& before, const GraphState& after);

/// Parameters of the nodes that both have: of `before` those of `in_force`. `for_update`: what keeps CUDA from taking
/// `after` for `before`, even if it is not the user's.
[[nodiscard]] std::vector<Difference> diff_nodes(const GraphState& before, const InForce& in_force,
                                                 const GraphState& after, bool for_update);

} // namespace cudag::detail
