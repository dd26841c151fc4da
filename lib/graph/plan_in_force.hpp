// The plan in force: the plan that a graph's native edges follow.
#pragma once

#include "plan/joins.hpp"

#include <cudag/plan.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace cudag::detail {

/// The last plan of a graph, with its result.
struct PlanInForce {
    Plan plan;
    std::shared_ptr<const PlannedEdges> planned; ///< the result; null if the plan leaves the edges as written
    std::vector<cudaGraphNode_t> kernels;        ///< the native nodes of the kernels added by the plan
    /// Number of logical edges in the plan, once the native edges follow it. None: the graph is planned again before
    /// its next use.
    std::optional<std::size_t> edges_seen;
    /// Whether the planned edges stay under all later plans: CUDA cannot remove edges of this graph.
    bool is_fixed = false;

    /// Whether the native edges follow `next`, or must stay as they are, in a graph of so many logical `edges`.
    [[nodiscard]] bool covers(const Plan& next, std::size_t edges) const noexcept {
        return edges_seen == edges && (is_fixed || next == plan);
    }
};

} // namespace cudag::detail
