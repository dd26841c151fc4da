// The places of marks in a graph.
#pragma once

#include <cstdint>
#include <vector>

namespace cudag::detail {

class GraphState;

/// The places of the marks in one native graph: nodes by index, followed by the kernels of the plan. Each marked node
/// has a mark before it. A node has ended once a successor over a full edge has begun; it needs an end mark only if
/// each successor waits for other nodes, too.
struct MarkLayout {
    std::vector<bool> is_marked;
    std::vector<bool> needs_end;
    std::vector<std::vector<std::uint32_t>> before; ///< sources of the full edges to each node
    std::vector<std::vector<std::uint32_t>> after;  ///< marked targets of the full edges from each node
};

/// Computes the places of the marks in `graph`, the same for graphs of equal structure and plan. Reads a captured
/// graph.
[[nodiscard]] MarkLayout mark_layout(const GraphState& graph);

} // namespace cudag::detail
