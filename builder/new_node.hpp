// Names and places of nodes about to be added, for all functions that add nodes.
#pragma once

#include "cuda/failure.hpp"
#include "graph/graph_state.hpp"

#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <string_view>

namespace cudag::detail {

/// Describes a new node for errors: "kernel scale at f.cpp:12"; `name` may be empty.
[[nodiscard]] Subject new_node_subject(NodeKind kind, const SourceLocation& where, std::string_view name = {});

[[noreturn]] void refuse_destroyed(const SourceLocation& by);
/// Throws GraphError if CUDA destroyed `graph` because a capture into it broke.
inline void require_not_destroyed(const GraphState& graph) {
    if (graph.construction().destroyed_by) [[unlikely]]
        refuse_destroyed(*graph.construction().destroyed_by);
}

/// Throws GraphError about `subject` if `graph` cannot take nodes now: it is built, gone or lost, it waits for the end
/// of a body or a captured region, or it is a body on another device than the current one.
void require_open(const GraphState& graph, Subject subject);

/// Whether the graph takes nodes of any kind.
[[nodiscard]] inline bool is_open_root(const GraphState& graph) noexcept {
    const Construction& construction = graph.construction();
    return graph.tree().place() == Place::root && !construction.is_built && construction.open_body == nullptr &&
           construction.open_region == nullptr && !graph.identity().is_orphan();
}

/// Throws GraphError like `require_allowed`, for a graph that is no open root.
void require_fit(const GraphState& graph, NodeKind kind, const SourceLocation& where);

/// Throws GraphError if `graph` is built, waits for the end of a body of one of its nodes, or is a body that cannot
/// have nodes of `kind`. Every function that adds a node for a caller calls this first.
inline void require_allowed(const GraphState& graph, NodeKind kind, const SourceLocation& where) {
    if (is_open_root(graph)) [[likely]]
        return;
    require_fit(graph, kind, where);
}

} // namespace cudag::detail
