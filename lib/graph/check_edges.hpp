// Checks of edges for cycles and contradictions, with errors that name the nodes.
#pragma once

#include <functional>
#include <string>

namespace cudag::detail {

class GraphState;

/// Throws GraphError, naming `action`, if the edges close a cycle, or if two edges of different kinds join the same
/// nodes.
void check_edges(const GraphState& graph, const char* action);
/// Checks like the overload above; calls `action` for an error only.
void check_edges(const GraphState& graph, const std::function<std::string()>& action);
/// Checks the edges and merges repeated ones. Looks only at edges added since the last call, unless some of them lead
/// backward or to nodes with earlier incoming edges.
void settle_edges(GraphState& graph, const char* action);

} // namespace cudag::detail
