// What nodes that copy and fill ask about graph memory.
#pragma once

#include "graph/graph_state.hpp"

#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <string_view>

namespace cudag::detail {

/// Throws GraphError if `address`, the `role` of a new node, is in memory that a node of `graph` frees: CUDA gives no
/// such memory to copies and fills that are made later, wherever their edges put them.
void require_unfreed(const GraphState& graph, const void* address, std::string_view role, NodeKind kind,
                     const SourceLocation& where);

} // namespace cudag::detail
