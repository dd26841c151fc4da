// Looks for a node in a graph and in the graphs inside it.
#pragma once

#include "graph_state.hpp"
#include "node/rules.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudag::detail {

/// A node, or none where `graph` is null.
struct FoundNode {
    const GraphState* graph = nullptr;
    std::uint32_t index = 0;

    explicit operator bool() const noexcept { return graph != nullptr; }
};

/// The first node for which `is(graph, index)` holds.
template <class Predicate>
[[nodiscard]] FoundNode find_node(const GraphState& graph, const Predicate& is) {
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i)
        if (is(graph, i)) return {&graph, i};
    for (const auto& inner : graph.nested())
        if (const FoundNode found = find_node(*inner, is)) return found;
    return {};
}

/// Whose handles are looked for.
enum class HandlesOf { origin, origin_and_itself };

/// The handle in `graph`, or in a graph inside it, of a node of what they were cloned from, or of themselves; else an
/// empty one. Takes as long as graphs are nested, where the clone was made of all of them at once.
[[nodiscard]] inline Node find_counterpart(const GraphState& graph, const Node& original, HandlesOf whose) {
    const bool itself = whose == HandlesOf::origin_and_itself;
    const std::uint32_t index = GraphState::index_unchecked(original);
    if (GraphState::is_alive(original)) {
        std::vector<std::uint32_t> way; // from an origin of `graph` down to the node's graph
        for (const GraphState* place = &GraphState::of(original); place != nullptr; place = place->parent()) {
            if (!(itself && place == &graph) && !graph.is_of_origin(place->handle(0))) {
                way.push_back(place->position());
                continue;
            }
            const GraphState* found = &graph;
            for (; found != nullptr && !way.empty(); way.pop_back())
                found = way.back() < found->nested().size() ? found->nested()[way.back()].get() : nullptr;
            if (found != nullptr) return found->handle(index);
            break;
        }
    }
    if ((itself && graph.is_own(original)) || graph.is_of_origin(original)) return graph.handle(index);
    for (const auto& inner : graph.nested()) // moved there, perhaps, itself or its clone
        if (const Node found = find_counterpart(*inner, original, whose); found != Node()) return found;
    return {};
}

/// The record of CUDA's node; nothing for null, and for a node that was added through CUDA's handle.
[[nodiscard]] inline FoundNode find_native(const GraphState& graph, cudaGraphNode_t native) {
    if (native == nullptr) return {};
    return find_node(graph, [native](const GraphState& g, std::uint32_t i) { return g.natives()[i] == native; });
}

/// What a node is called that CUDA names as the culprit; cudag may not know it.
[[nodiscard]] std::string describe_native(const GraphState& graph, cudaGraphNode_t native);

/// The first node whose kind does not have this one of CUDA's permissions.
[[nodiscard]] inline FoundNode find_unlike(const GraphState& graph, bool KindRules::*permission) {
    return find_node(graph, [permission](const GraphState& g, std::uint32_t i) {
        return !(rules_of(g.nodes()[i].kind).*permission);
    });
}

/// The first node that allocates or frees graph memory.
[[nodiscard]] inline FoundNode find_memory_node(const GraphState& graph) {
    if (!has_memory_nodes(graph)) return {};
    return find_node(graph, [](const GraphState& g, std::uint32_t i) { return is_graph_memory(g.nodes()[i].kind); });
}

} // namespace cudag::detail
