// Finds uses of graph memory that are not between its allocation and its end.
#pragma once

#include "graph/graph_state.hpp"

namespace cudag::detail {

/// Throws GraphError if a node that works on memory which this graph allocates or frees is not ordered after the alloc
/// node and before the free node, or the free node is not ordered after the alloc node. The edges must close no cycle.
void check_graph_memory(const GraphState& graph);

} // namespace cudag::detail
