// What nodes that copy and fill ask about graph memory.
#pragma once

#include "graph/graph_state.hpp"
#include "node/access.hpp"

#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

namespace cudag::detail {

/// Throws GraphError if a new node writes to its destination, or reads its source, in memory that a node of `graph`
/// frees: CUDA gives no such memory to copies and fills that are made later, wherever their edges put them.
void require_unfreed(const GraphState& graph, const Access& access, NodeKind kind, const SourceLocation& where);

} // namespace cudag::detail
