// What nodes that copy and fill ask about graph memory.
#pragma once

#include "graph/graph_state.hpp"

#include <cudag/detail/memory_region.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

namespace cudag::detail {

/// Throws GraphError if `region`, which a new node uses in `mode`, is in memory that a node of `graph` frees: CUDA
/// gives no such memory to copies and fills that are made later, wherever their edges put them.
void require_unfreed(const GraphState& graph, const MemoryRegion& region, AccessMode mode, NodeKind kind,
                     const SourceLocation& where);

} // namespace cudag::detail
