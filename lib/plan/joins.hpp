// What comes before what, many before many: by edges, or through a node between them.
#pragma once

#include "edges/edge_record.hpp"
#include "join_costs.hpp"

#include <cudag/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cudag::detail {

/// Why a join becomes what it becomes.
enum class JoinReason : char {
    joins_nothing, ///< nothing comes before it, or nothing after it
    no_more_edges, ///< one node comes before it, or one after it: edges without it are no more than with it
    few_edges,     ///< edges are quicker than a kernel
    many_edges,    ///< a kernel is quicker than edges
    early_edges,   ///< edges that are not full lead to what comes after it: CUDA takes no second edge beside one
    kept_edges,    ///< the edges to what comes after it are to stay
    no_kernel,     ///< no kernel may be added: edges up to where an empty node is quicker
    launch_call,   ///< it launches one kernel at an end of the graph instead of many
};

/// Some nodes that all come before some others.
struct JoinRecord {
    static constexpr std::uint32_t no_node = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t node; ///< the join of the graph, or `no_node` where its edges say so
    std::uint32_t before;
    std::uint32_t after;
    JoinForm form;
    JoinReason reason;
    friend bool operator==(const JoinRecord&, const JoinRecord&) = default;
};

/// What a join may become.
struct JoinRules {
    JoinCosts costs;
    bool kernels = true; ///< whether a kernel may be added
};

/// The edges that CUDA gets, and what is new in them.
struct PlannedEdges {
    std::vector<EdgeRecord> edges;
    std::uint32_t kernels = 0; ///< empty kernels: those have the numbers after the nodes of the graph
    std::vector<JoinRecord> joins = {};
    std::size_t lanes = 0; ///< on which the nodes were laid; 0 if they were not
    friend bool operator==(const PlannedEdges&, const PlannedEdges&) = default;
};

/// Decides on each node of `is_join`, and on each set of nodes that come after the same several others, but for those
/// of `keeps_all`, to which no edge changes; both are empty if there is none. Joins that become anything but nodes have
/// no edges left. The edges close no cycle, none is there twice, and none is implied by others; so it is with those
/// returned. Takes nodes + edges, of what is given and of what is returned.
[[nodiscard]] PlannedEdges plan_joins(std::size_t nodes, std::vector<EdgeRecord>&& edges,
                                      const std::vector<bool>& is_join, const std::vector<bool>& keeps_all,
                                      const JoinRules& rules);

} // namespace cudag::detail
