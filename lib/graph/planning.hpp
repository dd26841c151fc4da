// Planning of a graph: writes its planned edges to CUDA.
#pragma once

#include "plan/joins.hpp"

#include <cudag/plan.hpp>

#include <memory>
#include <vector>

namespace cudag::detail {

class GraphState;

/// Plans the edges of `graph`, without graphs inside it. Returns null if they are best as written. If the graph has
/// memory nodes, its native edges stay, because CUDA cannot remove them, and so does the first plan followed. Throws
/// GraphError.
[[nodiscard]] std::shared_ptr<const PlannedEdges> planned_edges(const GraphState& graph, const Plan& plan);

/// Makes the native edges of `graph`, without graphs inside it, follow `plan`. An unread captured graph keeps its
/// recorded edges, unless it has many. Throws GraphError, and can then be called again.
void follow_plan(GraphState& graph, const Plan& plan);

/// A graph with edges changed by a plan.
struct PlannedGraph {
    const GraphState* graph;
    std::shared_ptr<const PlannedEdges> planned;
};

/// Returns the planned graphs among `graph` and those inside it.
[[nodiscard]] std::vector<PlannedGraph> planned_graphs(const GraphState& graph);

} // namespace cudag::detail
