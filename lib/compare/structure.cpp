// Hash of a graph's structure: of all that a whole update cannot change.
#include "structure.hpp"

#include "graph/graph_state.hpp"
#include "lists/assertion.hpp"
#include "lists/hash.hpp"
#include "node/field_hash.hpp"

#include <cstddef>

namespace cudag::detail {

namespace {

void add_graph(const GraphState& graph, Hash& hash) {
    const std::size_t nodes = graph.records().nodes().size();
    hash.add(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) {
        hash.add(static_cast<std::uint64_t>(graph.records().nodes()[i].kind));
        add_fields<HashedFields::structure>(hash, graph.records().params(i));
    }
    hash.add(graph.edges().size());
    for (const EdgeRecord& edge : graph.edges())
        hash.add(std::uint64_t{edge.from} << 34U | std::uint64_t{edge.to} << 2U | static_cast<unsigned>(edge.kind));
    for (const auto& inner : graph.nested())
        add_graph(*inner, hash);
}

} // namespace

std::uint64_t structure_of(const GraphState& graph) {
    CUDAG_ASSERT(graph.is_locked());
    auto& known = graph.memos().of<KnownStructure>();
    const std::uint64_t version = graph.changes().version(); // it counts changes of attributes, too
    if (known.version == version) return known.number;
    Hash hash;
    add_graph(graph, hash);
    known.number = hash.value();
    known.version = version;
    return known.number;
}

} // namespace cudag::detail
