// The plan in force in one exec.
#pragma once

#include "graph/planning.hpp"

#include <vector>

namespace cudag::detail {

class ExecState;

/// The plan in force in an exec, as it was instantiated.
struct ExecPlan {
    /// The changes made by the plan in the graphs of the exec.
    std::vector<PlannedGraph> graphs;
    /// Whether the plan saw the nodes and edges of the graph. False if the graph was captured and still unread.
    bool was_read;
};

/// Completes CUDA's graph of `next` with edges planned like those of `mine`, a graph of the exec: CUDA compares them.
void complete_source(const ExecState& exec, const GraphState& mine, GraphState& next);

} // namespace cudag::detail
