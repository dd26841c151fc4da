// Looks for a node in a graph and in the graphs inside it.
#pragma once

#include "graph_state.hpp"
#include "node/rules.hpp"
#include "node_place.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudag::detail {

/// The first node for which `is(graph, index)` holds.
template <class Predicate>
[[nodiscard]] NodePlace find_node(const GraphState& graph, const Predicate& is) {
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i)
        if (is(graph, i)) return {&graph, i};
    for (const auto& inner : graph.nested())
        if (const NodePlace found = find_node(*inner, is)) return found;
    return {};
}

/// Whose handles are looked for.
enum class HandlesOf { origin, origin_and_itself };

/// The handle in `graph`, or in a graph inside it, of a node of what they were cloned from, or of themselves; else an
/// empty one. Takes as long as graphs are nested, where the clone was made of all of them at once.
[[nodiscard]] inline Node find_counterpart(const GraphState& graph, const Node& original, HandlesOf whose) {
    const bool itself = whose == HandlesOf::origin_and_itself;
    if (GraphState::is_alive(original)) {
        const std::uint32_t index = GraphState::index_unchecked(original);
        std::vector<std::uint32_t> way; // from an origin of `graph` down to the node's graph
        for (const GraphState* place = &GraphState::of(original); place != nullptr; place = place->parent()) {
            if (!(itself && place == &graph) && !graph.is_of_origin(place->handle(0))) {
                way.push_back(place->position());
                continue;
            }
            const GraphState* found = &graph;
            for (; !way.empty(); way.pop_back()) // built, as its origin is: neither has changed since
                found = found->nested()[way.back()].get();
            return found->handle(index);
        }
    }
    if (graph.is_of_origin(original)) return graph.of_origin(original);
    for (const auto& inner : graph.nested()) // moved there, perhaps, itself or its clone
        if (const Node found = find_counterpart(*inner, original, whose); found != Node()) return found;
    return {};
}

/// The record of CUDA's node; nothing for null, and for a node that was added through CUDA's handle.
[[nodiscard]] inline NodePlace find_native(const GraphState& graph, cudaGraphNode_t native) {
    if (native == nullptr) return {};
    return find_node(graph, [native](const GraphState& g, std::uint32_t i) { return g.natives()[i] == native; });
}

/// What a node is called that CUDA names as the culprit; cudag may not know it.
[[nodiscard]] std::string describe_native(const GraphState& graph, cudaGraphNode_t native);

/// The first node whose kind does not have this one of CUDA's permissions.
[[nodiscard]] inline NodePlace find_unlike(const GraphState& graph, bool KindRules::*permission) {
    return find_node(graph, [permission](const GraphState& g, std::uint32_t i) {
        return !(rules_of(g.nodes()[i].kind).*permission);
    });
}

/// The first node that allocates or frees graph memory.
[[nodiscard]] inline NodePlace find_memory_node(const GraphState& graph) {
    if (!has_memory_nodes(graph)) return {};
    return find_node(graph, [](const GraphState& g, std::uint32_t i) { return is_graph_memory(g.nodes()[i].kind); });
}

} // namespace cudag::detail
