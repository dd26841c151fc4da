// A check for uses of graph memory outside its lifetime.
#pragma once

namespace cudag::detail {

class GraphState;

/// Throws GraphError if a node that uses memory allocated or freed by this graph is not ordered after the alloc node
/// and before the free node, or if the free node is not ordered after the alloc node. The edges must be acyclic.
void check_graph_memory(const GraphState& graph);

} // namespace cudag::detail
