// What an update of a whole graph cannot change, as a number.
#pragma once

#include <cstdint>

namespace cudag::detail {

class GraphState;

/// Of the kinds of nodes, edges, kernels and the attributes that CUDA fixes, also in the graphs inside; no pointers, no
/// sizes. Graphs that are equal in these have the same number; others have it by chance only. Reads a captured graph.
/// Throws GraphError.
[[nodiscard]] std::uint64_t structure_of(const GraphState& graph);

} // namespace cudag::detail
