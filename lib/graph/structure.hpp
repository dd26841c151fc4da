// What an update of a whole graph cannot change, as a number.
#pragma once

#include <cstdint>

namespace cudag::detail {

class GraphState;

/// The number of a root as it was at that version of its changes.
struct KnownStructure {
    std::uint64_t number;
    std::uint64_t version;
};

/// Of the kinds of nodes, edges, kernels and the attributes that CUDA fixes, also in the graphs inside; no pointers, no
/// sizes. Graphs that are equal in these have the same number; others have it by chance only. Reads a captured graph.
/// Under the lock of the root `graph`, which knows its number then. Throws GraphError.
[[nodiscard]] std::uint64_t structure_of(const GraphState& graph);

} // namespace cudag::detail
