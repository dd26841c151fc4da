// A graph tree as one flat graph, for matching with another tree.
#include "match_tree.hpp"

#include "graph/graph_edges.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/node_record.hpp"
#include "lists/hash.hpp"
#include "node/field_hash.hpp"

#include <variant>

namespace cudag::detail {

MatchTree::MatchTree(const GraphState& root, const InForce& in_force, LabelNumbers& labels) : in_force_(in_force) {
    add(root, labels);
}

void MatchTree::add(const GraphState& graph, LabelNumbers& labels) {
    const auto first = static_cast<std::uint32_t>(places_.size());
    for (std::uint32_t i = 0; i < records_of(graph).nodes().size(); ++i) {
        const NodeRecord& record = records_of(graph).nodes()[i];
        const NodeParams& params = in_force_.params({&graph, i});
        auto key = static_cast<std::uint64_t>(record.kind); // no address is that small
        if (const auto* const* kernel = std::get_if<const KernelParams*>(&params))
            key = reinterpret_cast<std::uintptr_t>((*kernel)->function);
        Hash preference, likeness;
        for_each_access(params, [&](const UsedRange& range) { likeness.add(range.begin); });
        add_fields<HashedFields::changing>(preference, params);
        places_.push_back({&graph, i});
        graph_.nodes.push_back({key, 0, labels.of(record.label), preference.value(), likeness.value()});
    }
    for (const EdgeRecord& edge : edges_of(graph))
        graph_.edges.push_back({first + edge.from, first + edge.to, static_cast<std::uint32_t>(edge.kind)});
    for (const auto& inner : nested_of(graph)) {
        const auto first_inside = static_cast<std::uint32_t>(places_.size());
        for (std::uint32_t i = 0; i < records_of(*inner).nodes().size(); ++i)
            graph_.edges.push_back(
                {first + tree_of(*inner).parent_node(), first_inside + i, inside + tree_of(*inner).number()});
        add(*inner, labels);
    }
}

MatchGraph MatchTree::with_fixed() const {
    MatchGraph graph = graph_;
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
        const NodeParams& params = in_force_.params(places_[i]);
        Hash fixed;
        fixed.add(static_cast<std::uint64_t>(std::int64_t{places_[i].record().device}));
        fixed.add(params.index()); // copies have two kinds of descriptions
        add_fields<HashedFields::fixed>(fixed, params);
        graph.nodes[i].more = fixed.value();
    }
    return graph;
}

MatchGraph MatchTree::with_kinds() const {
    MatchGraph graph = graph_;
    for (std::uint32_t i = 0; i < places_.size(); ++i)
        graph.nodes[i].key = static_cast<std::uint64_t>(places_[i].record().kind);
    return graph;
}

} // namespace cudag::detail
