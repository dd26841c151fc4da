// What an update of a whole graph cannot change, as a number.
#pragma once

#include "graph/graph_memos.hpp"

#include <cstdint>
#include <optional>

namespace cudag::detail {

class GraphState;

/// The number of a root, as it was at that version of its changes.
struct KnownStructure final : GraphMemo {
    std::uint64_t number = 0;
    std::optional<std::uint64_t> version = std::nullopt;
};

/// Of the kinds of nodes, edges, kernels and the attributes that CUDA fixes, also in the graphs inside; no pointers, no
/// sizes. Graphs that are equal in these have the same number; others have it by chance only. Reads a captured graph.
/// Under the lock of the root `graph`, which knows its number then. Throws GraphError.
[[nodiscard]] std::uint64_t structure_of(const GraphState& graph);

} // namespace cudag::detail
