// Refuses edges that CUDA cannot take, by the names of their nodes.
#pragma once

#include <functional>
#include <string>

namespace cudag::detail {

class GraphState;

/// Throws GraphError, saying `action`, if the edges close a cycle, or two of different kinds join the same nodes.
void check_edges(const GraphState& graph, const char* action);
/// The same; `action` is called for the error only.
void check_edges(const GraphState& graph, const std::function<std::string()>& action);
/// `check_edges`, and merges what is there twice. Looks at the edges that have come since the last time only, if they
/// lead to nodes to which none led before.
void settle_edges(GraphState& graph, const char* action);

} // namespace cudag::detail
