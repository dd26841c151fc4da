// Comparison of two graphs: their structure, and the parameters of their nodes.
#pragma once

#include "graph/graph_tree.hpp"
#include "graph/in_force.hpp"

#include <cudag/diff.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace cudag::detail {

class GraphState;

/// Calls `visit(before, after)` for each pair of graphs at the same place in two trees: the roots, then the graphs of
/// the same number inside nodes of the same number.
template <class Visit>
void for_each_graph_pair(const GraphState& before, const GraphState& after, const Visit& visit) {
    visit(before, after);
    for (const auto& inner : nested_of(before))
        if (const auto* other = find_nested(after, tree_of(*inner).parent_node(), tree_of(*inner).number());
            other != nullptr && tree_of(**other).place() == tree_of(*inner).place())
            for_each_graph_pair(*inner, **other, visit);
}

/// Lists the first ten differences, one a line, and the number of further ones.
[[nodiscard]] std::string list_differences(const std::vector<Difference>& differences);

/// Describes a node by its old label, and by its new one if that differs.
[[nodiscard]] std::string describe_pair(const GraphState& before, const GraphState& after, std::uint32_t index);

/// Compares nodes, their kinds, and edges. Allocates nothing if they are equal.
[[nodiscard]] std::vector<Difference> diff_structure(const GraphState& before, const GraphState& after);

/// Compares the parameters of nodes found in both graphs; those of `before` come from `in_force`. `for_update`: reports
/// all obstacles to CUDA's update from `before` to `after`, even those not made by the user.
[[nodiscard]] std::vector<Difference> diff_nodes(const GraphState& before, const InForce& in_force,
                                                 const GraphState& after, bool for_update);

} // namespace cudag::detail
