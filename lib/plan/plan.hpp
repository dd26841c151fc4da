// The plan: the edges passed to CUDA in place of the written ones.
#pragma once

#include "early.hpp"
#include "joins.hpp"
#include "lane_costs.hpp"

#include <cudag/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cudag::detail {

/// The input of a plan. The edges are acyclic and unique.
struct PlanInput {
    std::size_t nodes;
    const std::vector<EdgeRecord>& edges;
    std::vector<bool> is_join{};   ///< by node: it does nothing; empty if there is no such node
    std::vector<bool> keeps_all{}; ///< by node: all edges to it stay; empty if there is no such node
    std::vector<bool> is_kernel{}; ///< by node; empty if the ends of the graph stay as they are
    JoinRules rules;
    std::vector<bool> is_off_lanes{};     ///< by node: it takes no part in lanes; empty if there is no such node
    std::vector<std::uint32_t> devices{}; ///< by node, for lanes: see LaneInput
    LaneCosts lanes = lane_costs(0, 0);
    EarlyNodes early{};
    bool has_fan_in = true; ///< false if no node has two incoming edges: no edge is implied, and there is no block
};

/// Returns edges that order the nodes exactly as the given ones do, unless lanes are requested, which add order. Equal
/// graphs have equal plans. Nothing if the edges are best as they are.
[[nodiscard]] std::optional<PlannedEdges> plan_edges(const PlanInput& input, const Plan& plan = {});

} // namespace cudag::detail
