// Names and places of nodes about to be added, for all functions that add nodes.
#pragma once

#include "cuda/failure.hpp"

#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <string_view>

namespace cudag::detail {

class GraphState;

/// Describes a new node for errors: "kernel scale at f.cpp:12"; `name` may be empty.
[[nodiscard]] Subject new_node_subject(NodeKind kind, const SourceLocation& where, std::string_view name = {});

[[noreturn]] void refuse_destroyed(const SourceLocation& by);

/// Throws GraphError about `subject` if `graph` cannot take nodes now: it is built, gone or lost, it waits for the end
/// of a body or a captured region, or it is a body on another device than the current one.
void require_open(const GraphState& graph, Subject subject);

/// Throws GraphError like `require_allowed`, for a graph that is no open root.
void require_fit(const GraphState& graph, NodeKind kind, const SourceLocation& where);

} // namespace cudag::detail
