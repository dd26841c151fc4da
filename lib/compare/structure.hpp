// Hash of a graph's structure: of all that a whole update cannot change.
#pragma once

#include "graph/graph_memos.hpp"

#include <cstdint>
#include <optional>

namespace cudag::detail {

class GraphState;

/// The structure hash of a root at a version of its changes.
struct KnownStructure final : GraphMemo {
    std::uint64_t number = 0;
    std::optional<std::uint64_t> version = std::nullopt;
};

/// Hashes the kinds of nodes, edges, kernels and the attributes fixed by CUDA, also in the graphs inside; no pointers,
/// no sizes. Equal structures have equal hashes; others have them only by chance. Reads a captured graph. Requires the
/// lock of the root `graph`, which keeps the hash. Throws GraphError.
[[nodiscard]] std::uint64_t structure_of(const GraphState& graph);

} // namespace cudag::detail
