// Graphs as Graphviz text, with the edges of a plan if there is one.
#pragma once

#include "graph/planning.hpp"

#include <cudag/dot_options.hpp>

#include <string>
#include <vector>

namespace cudag::detail {

/// Returns the text of a graph. In graphs of `planned`, which are never folded, edges left out and joins replaced by
/// the plan are grey, with dashed lines; kernels of the plan are points. Reads a captured graph.
[[nodiscard]] std::string dot_of(const GraphState& graph, const DotOptions& options,
                                 const std::vector<PlannedGraph>& planned);

} // namespace cudag::detail
