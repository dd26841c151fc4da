// Hash of a graph's structure: of all that a whole update cannot change.
#include "structure.hpp"

#include "graph/changes.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_memos.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "lists/assertion.hpp"
#include "lists/hash.hpp"
#include "node/field_hash.hpp"

#include <cstddef>

namespace cudag::detail {

namespace {

void add_graph(const GraphState& graph, Hash& hash) {
    const std::size_t nodes = records_of(graph).nodes().size();
    hash.add(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) {
        hash.add(static_cast<std::uint64_t>(records_of(graph).nodes()[i].kind));
        add_fields<HashedFields::structure>(hash, records_of(graph).params(i));
    }
    hash.add(edges_of(graph).size());
    for (const EdgeRecord& edge : edges_of(graph))
        hash.add(std::uint64_t{edge.from} << 34U | std::uint64_t{edge.to} << 2U | static_cast<unsigned>(edge.kind));
    for (const auto& inner : nested_of(graph))
        add_graph(*inner, hash);
}

} // namespace

std::uint64_t structure_of(const GraphState& graph) {
    CUDAG_ASSERT(is_locked(graph));
    auto& known = memos_of(graph).of<KnownStructure>();
    const std::uint64_t version = changes_of(graph).version(); // it counts changes of attributes, too
    if (known.version == version) return known.number;
    Hash hash;
    add_graph(graph, hash);
    known.number = hash.value();
    known.version = version;
    return known.number;
}

} // namespace cudag::detail
