// Uses of graph memory by the nodes of a graph.
#pragma once

#include "graph/node_place.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// An address inside graph memory passed to a node: of one allocation, or of several if CUDA reuses the memory.
struct MemoryUse {
    std::uint32_t node; ///< of the requested graph
    NodePlace place;    ///< the node with the address: `node`, or one inside it
    std::uintptr_t begin;
    std::size_t bytes;
    bool is_pointer; ///< only the first byte is known: it may be the end of other memory passed to the node
};

/// The uses in order of the nodes: the operands of copies and fills, and a kernel's pointer and span arguments. A
/// pointer counts by its first byte; in a recorded kernel, every parameter of a pointer's size counts. Takes operands *
/// log(allocations).
[[nodiscard]] std::vector<MemoryUse> memory_uses(const GraphState& graph);

} // namespace cudag::detail
