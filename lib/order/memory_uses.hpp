// Which nodes of a graph work on memory that it allocates or frees.
#pragma once

#include "graph/node_place.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// A node that is given an address inside graph memory: of one allocation, or of several if CUDA reuses the memory.
struct MemoryUse {
    std::uint32_t node; ///< of the graph that was asked for
    NodePlace place;    ///< of the node that is given it: the same, or one inside `node`
    std::uintptr_t begin;
    std::size_t bytes;
    bool is_pointer; ///< only the first byte is known: it may be the end of other memory that the node is given
};

/// In order of the nodes. Known are the operands of copies and fills, and the pointers and spans among a kernel's
/// arguments, of which a pointer counts by its first byte; of a recorded kernel, what has a pointer's size. Takes as
/// long as there are operands, times the logarithm of the allocations.
[[nodiscard]] std::vector<MemoryUse> memory_uses(const GraphState& graph);

} // namespace cudag::detail
