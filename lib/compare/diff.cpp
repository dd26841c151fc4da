// Comparison of two graphs side by side, in the order of their nodes.
#include "diff.hpp"

#include "condition_pairs.hpp"
#include "cuda/numbered_contexts.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/names.hpp"
#include "node/node_params.hpp"

#include <cudag/format.hpp>
#include <cudag/graph.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace cudag {

namespace detail {

namespace {

std::vector<EdgeRecord> sorted(std::vector<EdgeRecord> edges) {
    std::sort(edges.begin(), edges.end(), edge_precedes);
    return edges;
}

/// The structural differences between two graphs at the same place in their trees.
class StructureDiff {
  public:
    StructureDiff(const GraphState& before, const GraphState& after, std::vector<Difference>& found)
        : before_(before), after_(after), found_(found) {}

    void nodes() {
        const auto& before = records_of(before_).nodes();
        const auto& after = records_of(after_).nodes();
        const std::size_t common = std::min(before.size(), after.size());
        for (std::uint32_t i = 0; i < common; ++i)
            if (before[i].kind != after[i].kind)
                found_.push_back({DifferenceKind::node_kind, identity_of(before_).handle(i),
                                  identity_of(after_).handle(i), describe_pair(before_, after_, i), "kind",
                                  std::string(to_string(before[i].kind)), std::string(to_string(after[i].kind)), true});
        for (auto i = static_cast<std::uint32_t>(common); i < before.size(); ++i)
            found_.push_back({DifferenceKind::node,
                              identity_of(before_).handle(i),
                              {},
                              describe_node(before_, i),
                              "node",
                              "there",
                              "missing",
                              true});
        for (auto i = static_cast<std::uint32_t>(common); i < after.size(); ++i)
            found_.push_back({DifferenceKind::node,
                              {},
                              identity_of(after_).handle(i),
                              describe_node(after_, i),
                              "node",
                              "missing",
                              "there",
                              true});
    }

    void edges() {
        if (std::equal(edges_of(before_).begin(), edges_of(before_).end(), edges_of(after_).begin(),
                       edges_of(after_).end()))
            return;
        const auto from = sorted(edges_of(before_));
        const auto to = sorted(edges_of(after_));
        std::vector<EdgeRecord> lost;
        std::vector<EdgeRecord> added;
        std::set_difference(from.begin(), from.end(), to.begin(), to.end(), std::back_inserter(lost), edge_precedes);
        std::set_difference(to.begin(), to.end(), from.begin(), from.end(), std::back_inserter(added), edge_precedes);
        for (const EdgeRecord& edge : lost)
            found_.push_back({DifferenceKind::edge, identity_of(before_).handle(edge.to), in_after(edge.to),
                              describe_node(before_, edge.to), edge_name(before_, edge), "there", "missing", true});
        for (const EdgeRecord& edge : added)
            found_.push_back({DifferenceKind::edge, in_before(edge.to), identity_of(after_).handle(edge.to),
                              describe_node(after_, edge.to), edge_name(after_, edge), "missing", "there", true});
    }

  private:
    [[nodiscard]] Node in_before(std::uint32_t index) const {
        return index < records_of(before_).nodes().size() ? identity_of(before_).handle(index) : Node();
    }
    [[nodiscard]] Node in_after(std::uint32_t index) const {
        return index < records_of(after_).nodes().size() ? identity_of(after_).handle(index) : Node();
    }
    static std::string edge_name(const GraphState& graph, const EdgeRecord& edge) {
        const std::string kind = edge.kind == EdgeKind::full ? "" : fmt::format("{} ", to_string(edge.kind));
        return fmt::format("{}edge from {}", kind, describe_node(graph, edge.from));
    }

    const GraphState& before_;
    const GraphState& after_;
    std::vector<Difference>& found_;
};

/// Whether two nodes other than kernels differ in their green context. Those of kernels are parameters.
bool has_other_context(const GraphState& before, const GraphState& after, std::uint32_t index) {
    const NodeRecord& mine = records_of(before).nodes()[index];
    const NodeRecord& next = records_of(after).nodes()[index];
    return mine.device != next.device && (is_context_number(mine.device) || is_context_number(next.device)) &&
           mine.kind == next.kind && mine.kind != NodeKind::kernel;
}

Difference context_difference(const GraphState& before, const GraphState& after, std::uint32_t index) {
    const auto name = [&](const GraphState& graph) {
        const int device = records_of(graph).nodes()[index].device;
        return is_context_number(device) ? numbered_name(device) : std::string("the device's own");
    };
    return {DifferenceKind::parameter,
            identity_of(before).handle(index),
            identity_of(after).handle(index),
            describe_pair(before, after, index),
            "context",
            name(before),
            name(after),
            true};
}

} // namespace

std::string describe_pair(const GraphState& before, const GraphState& after, std::uint32_t index) {
    const std::string_view old_label = records_of(before).nodes()[index].label;
    const std::string_view new_label = records_of(after).nodes()[index].label;
    std::string name = describe_node(before, index);
    if (!new_label.empty() && new_label != old_label) name += fmt::format(" (now \"{}\")", without_nul(new_label));
    return name;
}

std::vector<Difference> diff_structure(const GraphState& before, const GraphState& after) {
    std::vector<Difference> found;
    for_each_graph_pair(before, after, [&](const GraphState& a, const GraphState& b) {
        StructureDiff structure(a, b, found);
        structure.nodes();
        structure.edges();
    });
    return found;
}

std::vector<Difference> diff_nodes(const GraphState& before, const InForce& in_force, const GraphState& after,
                                   bool for_update) {
    std::vector<Difference> found;
    const ConditionPairs conditions(before, after, for_update);
    for_each_graph_pair(before, after, [&](const GraphState& a, const GraphState& b) {
        const GraphRecords& later = records_of(b);
        const std::size_t common = std::min(records_of(a).nodes().size(), later.nodes().size());
        for (std::uint32_t i = 0; i < common; ++i) {
            const NodeParams& old_params = in_force.params({&a, i});
            if (has_other_context(a, b, i)) found.push_back(context_difference(a, b, i));
            if (same_params(old_params, later.params(i), conditions)) continue;
            for (FieldDifference& field : diff_params(old_params, later.params(i), conditions))
                found.push_back({field.kind, identity_of(a).handle(i), identity_of(b).handle(i), describe_pair(a, b, i),
                                 std::move(field.field), std::move(field.before), std::move(field.after),
                                 field.needs_instantiate()});
        }
    });
    return found;
}

} // namespace detail

std::string detail::list_differences(const std::vector<Difference>& differences) {
    constexpr std::size_t shown = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, differences.size()); ++i)
        text += "\n  " + to_string(differences[i]);
    if (differences.size() > shown) text += fmt::format("\n  and {} more", differences.size() - shown);
    return text;
}

std::string_view to_string(DifferenceKind kind) noexcept {
    switch (kind) {
    case DifferenceKind::node:
        return "node";
    case DifferenceKind::edge:
        return "edge";
    case DifferenceKind::node_kind:
        return "node_kind";
    case DifferenceKind::function:
        return "function";
    case DifferenceKind::parameter:
        return "parameter";
    case DifferenceKind::attribute:
        return "attribute";
    }
    return "unknown";
}

std::string to_string(const Difference& difference) {
    return fmt::format("{}: {}: {} -> {}", difference.node, difference.field, difference.old_value,
                       difference.new_value);
}

std::vector<Difference> diff(const Graph& a, const Graph& b) {
    const detail::GraphState& before = detail::Access::state(a);
    const detail::GraphState& after = detail::Access::state(b);
    const detail::GraphLocks locks(before, after);
    std::vector<Difference> found = detail::diff_structure(before, after);
    std::vector<Difference> fields = detail::diff_nodes(before, detail::graph_in_force, after, false);
    found.insert(found.end(), std::make_move_iterator(fields.begin()), std::make_move_iterator(fields.end()));
    return found;
}

} // namespace cudag
