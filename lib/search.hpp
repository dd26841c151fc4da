// Looks for a node in a graph and in the graphs inside it.
#pragma once

#include "graph_state.hpp"

#include <cstdint>

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

/// The first node of this kind.
[[nodiscard]] inline FoundNode find_kind(const GraphState& graph, NodeKind kind) {
    return find_node(graph, [kind](const GraphState& g, std::uint32_t i) { return g.nodes()[i].kind == kind; });
}

/// The first node that allocates or frees graph memory.
[[nodiscard]] inline FoundNode find_memory_node(const GraphState& graph) {
    if (!graph.has_memory_nodes()) return {};
    return find_node(graph, [](const GraphState& g, std::uint32_t i) {
        return g.nodes()[i].kind == NodeKind::alloc || g.nodes()[i].kind == NodeKind::free;
    });
}

} // namespace cudag::detail
