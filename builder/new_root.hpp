// Graphs written node by node without a GraphBuilder: of texts, and of graphs written again.
#pragma once

#include <cudag/source_location.hpp>

#include <memory>

namespace cudag::detail {

class GraphState;

/// Makes an empty graph under construction, which accepts races. Throws GraphError.
[[nodiscard]] std::shared_ptr<GraphState> empty_graph();
/// Checks and ends the construction of such a graph. `action` is for errors: "load". Throws GraphError.
void finish_written(GraphState& graph, const char* action, const SourceLocation& where);

} // namespace cudag::detail
