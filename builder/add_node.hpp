// Additions of single nodes: CUDA validates a node at once, then it is recorded.
#pragma once

#include "add_memory.hpp"
#include "body_copies.hpp"
#include "graph/graph_state.hpp"
#include "node/node_params.hpp"
#include "node/problem.hpp"
#include "require_allowed.hpp"

#include <cudag/source_location.hpp>

#include <utility>

namespace cudag::detail {

/// Makes a node in CUDA's graph by `add(node)` and records it. `params` must be in the graph's memory. Throws
/// GraphError if CUDA refuses.
template <class Add>
Node append_new(GraphState& graph, NodeKind kind, const NodeParams& params, CallEffects&& effects,
                const SourceLocation& where, const Add& add) {
    graph.reserve_node(effects);
    cudaGraphNode_t node = nullptr;
    if (const NativeResult added = add(node); added.status != cudaSuccess) [[unlikely]]
        raise_call<GraphError>(added.status, added.operation, new_node_subject(kind, where), added.api);
    return graph.append(node, {kind, params, {}, where}, std::move(effects));
}

/// Copies `params` into the graph's memory.
template <class Params>
NodeParams store_params(GraphState& graph, const Params& params) {
    if constexpr (requires { trailing_bytes(params); })
        return OwnedParams(graph.records().memory().resource(), &params).view();
    else
        return graph.records().memory().store(params);
}

/// Adds a node described by `params`, of a kind in lib/node. Throws GraphError if the graph cannot take such a node
/// now, or if the parameters are invalid.
template <class Params>
Node add_node(GraphState& graph, NodeKind kind, const Params& params, CallEffects&& effects,
              const SourceLocation& where) {
    require_allowed(graph, kind, where);
    if constexpr (requires { problem_of(params); })
        require_sound(params, [&] { return new_node_subject(kind, where); });
    for_each_block(NodeParams(&params), [&](const ArgumentAccess& access) {
        require_unfreed(graph, access.block, access.mode, kind, where);
    });
    require_body_copy(graph, kind, &params, where);
    return append_new(graph, kind, store_params(graph, params), std::move(effects), where,
                      [&](cudaGraphNode_t& node) { return add_native(node, graph.native(), params); });
}

} // namespace cudag::detail
