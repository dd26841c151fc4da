// Which nodes of a graph work on memory that it allocates or frees.
#pragma once

#include "graph_state.hpp"

#include <cstdint>
#include <vector>

namespace cudag::detail {

/// A node that is given an address inside graph memory.
struct MemoryUse {
    std::uint32_t node;      ///< of the graph that was asked for
    const GraphState* graph; ///< the same graph, or one inside `node`: that of the node which is given it
    std::uint32_t index;     ///< there
    std::vector<std::uint32_t> allocations; ///< by index; more than one if CUDA reuses memory
};

/// In order of the nodes. Known are the operands of copies and fills, and the pointers and spans among a kernel's
/// arguments, of which a pointer counts by its first byte.
[[nodiscard]] std::vector<MemoryUse> memory_uses(const GraphState& graph);

} // namespace cudag::detail
