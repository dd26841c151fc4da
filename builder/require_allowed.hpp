// The quick check, before each addition of a node, that a graph takes it.
#pragma once

#include "graph/graph_state.hpp"
#include "new_node.hpp"

namespace cudag::detail {

/// Throws GraphError if CUDA destroyed `graph` because a capture into it broke.
inline void require_not_destroyed(const GraphState& graph) {
    if (graph.construction().destroyed_by) [[unlikely]]
        refuse_destroyed(*graph.construction().destroyed_by);
}

/// Whether the graph takes nodes of any kind.
[[nodiscard]] inline bool is_open_root(const GraphState& graph) noexcept {
    const Construction& construction = graph.construction();
    return graph.tree().place() == Place::root && !construction.is_built && construction.open_body == nullptr &&
           construction.open_region == nullptr && !graph.identity().is_orphan();
}

/// Throws GraphError if `graph` is built, waits for the end of a body of one of its nodes, or is a body that cannot
/// have nodes of `kind`. Every function that adds a node for a caller calls this first.
inline void require_allowed(const GraphState& graph, NodeKind kind, const SourceLocation& where) {
    if (is_open_root(graph)) [[likely]]
        return;
    require_fit(graph, kind, where);
}

} // namespace cudag::detail
