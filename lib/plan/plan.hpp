// The plan: which edges CUDA gets for those that a graph was written with.
#pragma once

#include "joins.hpp"
#include "lane_costs.hpp"

#include <cudag/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cudag::detail {

/// What a plan is made from. The edges close no cycle, and none is there twice.
struct PlanInput {
    std::size_t nodes;
    const std::vector<EdgeRecord>& edges;
    std::vector<bool> is_join{};   ///< by node: it does nothing; empty if there is none
    std::vector<bool> keeps_all{}; ///< by node: all edges to it stay; empty if there is none
    std::vector<bool> is_kernel{}; ///< by node; empty if the graph is not to begin or end with an empty kernel
    JoinRules rules;
    std::vector<bool> is_off_lanes{};     ///< by node: lanes do not concern it; empty if there is none
    std::vector<std::uint32_t> devices{}; ///< by node, for lanes: see LaneInput
    LaneCosts lanes = lane_costs(0, 0);
};

/// Edges that say of the graph's nodes what the given ones say: which of them must have ended before which begin; and
/// nothing else, unless lanes are asked for. Equal graphs have equal plans. Nothing if the edges are best as they are.
[[nodiscard]] std::optional<PlannedEdges> plan_edges(const PlanInput& input, const Plan& plan = {});

} // namespace cudag::detail
