// Graph as Graphviz text, also with the edges of a plan.
#pragma once

#include "graph/planning.hpp"

#include <string>
#include <vector>

namespace cudag::detail {

/// In graphs of `planned`, edges that the plan has left out are grey and dashed, as are joins that it has replaced, and
/// its kernels are points.
[[nodiscard]] std::string dot_of(const GraphState& graph, const std::vector<PlannedGraph>& planned = {});

} // namespace cudag::detail
