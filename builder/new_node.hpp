// What the functions that add nodes share: how a node that does not exist yet is called, and where it may be.
#pragma once

#include "cuda/failure.hpp"
#include "graph/graph_state.hpp"

#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <string_view>

namespace cudag::detail {

/// "kernel scale at f.cpp:12"; `name` may be empty.
[[nodiscard]] Subject new_node_subject(NodeKind kind, const SourceLocation& where, std::string_view name = {});

[[noreturn]] void refuse_destroyed(const SourceLocation& by);
/// Throws GraphError if CUDA has destroyed `graph`, because a capture into it was broken.
inline void require_not_destroyed(const GraphState& graph) {
    if (graph.construction().destroyed_by) [[unlikely]]
        refuse_destroyed(*graph.construction().destroyed_by);
}

/// Throws GraphError about `subject` if `graph` takes no nodes now: it is built, gone or lost, or waits for a body or a
/// captured region to end; or if it is a body of another device than the current one.
void require_open(const GraphState& graph, Subject subject);

/// Whether nodes of any kind may be added.
[[nodiscard]] inline bool is_open_root(const GraphState& graph) noexcept {
    const Construction& construction = graph.construction();
    return graph.place() == Place::root && !construction.is_built && construction.open_body == nullptr &&
           construction.open_region == nullptr && !graph.is_orphan();
}

/// What `require_allowed` asks where `graph` is no open root.
void require_fit(const GraphState& graph, NodeKind kind, const SourceLocation& where);

/// Throws GraphError if `graph` is built, or waits for a body of one of its nodes to end, or is a body that takes no
/// nodes of `kind`. Every function that adds a node for a caller asks this first.
inline void require_allowed(const GraphState& graph, NodeKind kind, const SourceLocation& where) {
    if (is_open_root(graph)) [[likely]]
        return;
    require_fit(graph, kind, where);
}

} // namespace cudag::detail
