// Searches for a node in a graph and in the graphs inside it.
#pragma once

#include "graph_identity.hpp"
#include "graph_records.hpp"
#include "graph_tree.hpp"
#include "node/rules.hpp"
#include "node_place.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudag::detail {

class GraphState;

/// Returns the first node for which `is(graph, index)` holds.
template <class Predicate>
[[nodiscard]] NodePlace find_node(const GraphState& graph, const Predicate& is) {
    for (std::uint32_t i = 0; i < records_of(graph).nodes().size(); ++i)
        if (is(graph, i)) return {&graph, i};
    for (const auto& inner : nested_of(graph))
        if (const NodePlace found = find_node(*inner, is)) return found;
    return {};
}

/// Returns the graph in `root` at the place of `graph` in its own root, which has the same nodes.
[[nodiscard]] inline const GraphState& counterpart_in(const GraphState& root, const GraphState& graph) {
    const GraphState* const parent = tree_of(graph).parent();
    if (parent == nullptr) return root;
    return *nested_of(counterpart_in(root, *parent))[tree_of(graph).position()];
}

/// The graphs whose handles a search accepts.
enum class HandlesOf { origin, origin_and_itself };

/// Finds the counterpart of `original`, in `graph` or inside it, and returns its handle; an empty one if there is none.
/// `whose` allows nodes of the graphs' origins only, or of the graphs themselves, too. Takes time proportional to the
/// depth of nesting if all graphs were cloned at once.
[[nodiscard]] inline Node find_counterpart(const GraphState& graph, const Node& original, HandlesOf whose) {
    const bool itself = whose == HandlesOf::origin_and_itself;
    if (GraphIdentity::is_alive(original)) {
        const std::uint32_t index = GraphIdentity::index_unchecked(original);
        std::vector<std::uint32_t> way; // from an origin of `graph` down to the node's graph
        for (const GraphState* place = &GraphIdentity::of(original); place != nullptr;
             place = tree_of(*place).parent()) {
            if (!(itself && place == &graph) && !identity_of(graph).is_of_origin(identity_of(*place).handle(0))) {
                way.push_back(tree_of(*place).position());
                continue;
            }
            const GraphState* found = &graph;
            for (; !way.empty(); way.pop_back()) // both are built: neither has changed since
                found = nested_of(*found)[way.back()].get();
            return identity_of(*found).handle(index);
        }
    }
    if (identity_of(graph).is_of_origin(original)) return identity_of(graph).of_origin(original);
    for (const auto& inner : nested_of(graph)) // itself or its clone may have been moved there
        if (const Node found = find_counterpart(*inner, original, whose); found != Node()) return found;
    return {};
}

/// Returns the place of a native node; none for null, and for a node added through CUDA's handle.
[[nodiscard]] inline NodePlace find_native(const GraphState& graph, cudaGraphNode_t native) {
    if (native == nullptr) return {};
    return find_node(graph,
                     [native](const GraphState& g, std::uint32_t i) { return records_of(g).natives()[i] == native; });
}

/// Describes a node reported by CUDA as the culprit, even if cudag does not know it.
[[nodiscard]] std::string describe_native(const GraphState& graph, cudaGraphNode_t native);

/// Returns the first node whose kind lacks this permission of CUDA.
[[nodiscard]] inline NodePlace find_unlike(const GraphState& graph, bool KindRules::*permission) {
    return find_node(graph, [permission](const GraphState& g, std::uint32_t i) {
        return !(rules_of(records_of(g).nodes()[i].kind).*permission);
    });
}

/// Returns the first node that allocates or frees graph memory.
[[nodiscard]] inline NodePlace find_memory_node(const GraphState& graph) {
    if (!has_memory_nodes(graph)) return {};
    return find_node(
        graph, [](const GraphState& g, std::uint32_t i) { return is_graph_memory(records_of(g).nodes()[i].kind); });
}

} // namespace cudag::detail
