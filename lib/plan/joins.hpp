// Joins, where many nodes precede many others: by edges, or through a node between them.
#pragma once

#include "edges/edge_record.hpp"
#include "join_costs.hpp"
#include "lists/none.hpp"

#include <cudag/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// The reason for the form of a join.
enum class JoinReason : char {
    joins_nothing, ///< no node precedes it, or none follows it
    no_more_edges, ///< one node precedes or follows it: removing it adds no edges
    few_edges,     ///< edges are faster than a kernel
    many_edges,    ///< a kernel is faster than edges
    early_edges,   ///< non-full edges lead to its successors: CUDA takes no second edge beside one
    kept_edges,    ///< the edges to its successors must stay
    no_kernel,     ///< no kernel may be added: edges, up to the size at which an empty node is faster
    few_launches,  ///< too few launches to repay a slower instantiation
    long_line,     ///< an edge from the first node of a long line to the last makes the launch call shorter
    launch_call,   ///< it launches one kernel at an end of the graph instead of many
};

/// A join: some nodes that all precede some others.
struct JoinRecord {
    static constexpr std::uint32_t no_node = none;

    std::uint32_t node; ///< the join of the graph, or `no_node` if its edges express the join
    std::uint32_t before;
    std::uint32_t after;
    JoinForm form;
    JoinReason reason;
    friend bool operator==(const JoinRecord&, const JoinRecord&) = default;
};

/// The permitted forms of a join.
struct JoinRules {
    JoinCosts costs;
    bool kernels = true; ///< whether a kernel may be added
    bool repays = true;  ///< whether there are enough launches to repay a slower instantiation
};

/// The edges for CUDA, and the changes in them.
struct PlannedEdges {
    std::vector<EdgeRecord> edges;
    std::uint32_t kernels = 0; ///< number of empty kernels; they are numbered after the nodes of the graph
    std::vector<JoinRecord> joins = {};
    std::size_t lanes = 0; ///< number of lanes of nodes; 0 if lanes were not used
    std::size_t early = 0; ///< number of edges made programmatic
    friend bool operator==(const PlannedEdges&, const PlannedEdges&) = default;
};

/// Decides the form of each node of `is_join`, and of each set of nodes with the same several predecessors. Edges to
/// nodes of `keeps_all` never change. Either vector is empty if there are no such nodes. A join that becomes anything
/// but a node keeps no edges. The edges are acyclic and unique, and none is implied by others; the same holds for the
/// returned ones. Takes nodes + edges, given and returned.
[[nodiscard]] PlannedEdges plan_joins(std::size_t nodes, std::vector<EdgeRecord>&& edges,
                                      const std::vector<bool>& is_join, const std::vector<bool>& keeps_all,
                                      const JoinRules& rules);

} // namespace cudag::detail
