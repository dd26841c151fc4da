// Graphs as Graphviz text, with the edges of a plan if there is one.
#pragma once

#include "graph/planning.hpp"

#include <string>
#include <vector>

namespace cudag::detail {

/// Returns the text of a graph. In graphs of `planned`, edges left out and joins replaced by the plan are grey, with
/// dashed lines; kernels of the plan are points.
[[nodiscard]] std::string dot_of(const GraphState& graph, const std::vector<PlannedGraph>& planned = {});

} // namespace cudag::detail
