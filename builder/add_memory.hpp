// Graph-memory checks for new copies and fills.
#pragma once

#include <cudag/detail/memory_block.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

namespace cudag::detail {

class GraphState;

/// Throws GraphError if `block`, which a new node uses in `mode`, is in memory freed by a node of `graph`: CUDA gives
/// it to no copy or fill made later, wherever their edges put them.
void require_unfreed(const GraphState& graph, const MemoryBlock& block, AccessMode mode, NodeKind kind,
                     const SourceLocation& where);

} // namespace cudag::detail
