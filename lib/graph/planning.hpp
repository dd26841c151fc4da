// Gives CUDA the edges of a graph as a plan has them.
#pragma once

#include "plan/joins.hpp"

#include <cudag/plan.hpp>

#include <memory>
#include <vector>

namespace cudag::detail {

class GraphState;

/// What `plan` makes of the edges of `graph`, not of those inside it, if it changes them; null if they are best as they
/// are. Of a graph with memory nodes, of which CUDA removes no edges, those that it has stay, and where a plan was
/// followed, that plan. Throws GraphError.
[[nodiscard]] std::shared_ptr<const PlannedEdges> planned_edges(const GraphState& graph, const Plan& plan);

/// Makes CUDA's edges of `graph`, not of those inside it, follow `plan`. Those of a captured graph that nobody has
/// asked anything of stay as they were recorded, unless it has many. Throws GraphError, and can then be called again.
void follow_plan(GraphState& graph, const Plan& plan);

/// A graph of which a plan has made other edges than those that were written.
struct PlannedGraph {
    const GraphState* graph;
    std::shared_ptr<const PlannedEdges> planned;
};

/// Such graphs: `graph` and those inside it.
[[nodiscard]] std::vector<PlannedGraph> planned_graphs(const GraphState& graph);

} // namespace cudag::detail
