// Inference of edges, and their removal.
#include "inferred_edges.hpp"

#include "accesses/inference.hpp"
#include "cuda/failure.hpp"
#include "cuda/node_calls.hpp"
#include "edges/edge_set.hpp"
#include "edges/program_order.hpp"
#include "edges/topological_order.hpp"
#include "graph/check_edges.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "graph/node_flags.hpp"
#include "graph/region_nodes.hpp"
#include "node_accesses.hpp"
#include "tracking.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

namespace cudag::detail {

namespace {

/// The units of a graph: its nodes, with each captured region as one unit, named by its first node.
class Units {
  public:
    explicit Units(const GraphState& graph)
        : graph_(graph), regions_(graph.records().nodes().size()), first_(regions_.size()) {
        std::iota(first_.begin(), first_.end(), 0U);
        for (const RegionNodes* const region : graph.construction().regions) {
            const std::uint32_t first = GraphIdentity::index_unchecked(graph.identity().numbered(region->first));
            for (std::uint32_t node = first; node < first + region->count; ++node) {
                regions_[node] = region;
                first_[node] = first;
            }
        }
    }

    [[nodiscard]] std::uint32_t of(std::uint32_t node) const { return first_[node]; }
    [[nodiscard]] bool is_region(std::uint32_t unit) const {
        return unit < regions_.size() && regions_[unit] != nullptr;
    }

    /// Edges between units. Throws GraphError if they close a cycle: then a node follows one node of a region and
    /// precedes another one.
    [[nodiscard]] std::vector<EdgeRecord> edges() const {
        Edges between;
        for (const EdgeRecord& edge : graph_.edges())
            if (of(edge.from) != of(edge.to)) between.add({of(edge.from), of(edge.to), edge.kind});
        const std::vector<std::uint32_t> cycle = between.find_cycle(first_.size());
        if (!cycle.empty()) refuse_cycle(cycle);
        return between.list();
    }

    /// By place in an order of units: whether one of its nodes keeps its place in the program.
    [[nodiscard]] std::vector<bool> keep_places(const std::vector<std::uint32_t>& place) const {
        std::vector<bool> keep;
        for (std::uint32_t node = 0; node < first_.size(); ++node) {
            if (!keeps_place(graph_, node)) continue;
            keep.resize(first_.size());
            keep[place[of(node)]] = true;
        }
        return keep;
    }

    /// By place in an order: whether the node is represented by the first one of its region.
    [[nodiscard]] std::vector<bool> left_out(const std::vector<std::uint32_t>& place) const {
        std::vector<bool> all;
        for (std::uint32_t node = 0; node < first_.size(); ++node) {
            if (of(node) == node) continue;
            all.resize(first_.size());
            all[place[node]] = true;
        }
        return all;
    }

    /// Adds edges from the last nodes of `from` to the first nodes of `to`.
    void connect(std::uint32_t from, std::uint32_t to, std::vector<EdgeRecord>& edges) const {
        const std::uint32_t one = 0;
        const std::span<const std::uint32_t> tails = is_region(from) ? regions_[from]->tails : std::span(&one, 1);
        const std::span<const std::uint32_t> roots = is_region(to) ? regions_[to]->roots : std::span(&one, 1);
        for (const std::uint32_t tail : tails)
            for (const std::uint32_t root : roots)
                edges.push_back({from + place_in(from, tail), to + place_in(to, root)});
    }

  private:
    /// The position of the node with number `number` in its unit, counted from the first node.
    [[nodiscard]] std::uint32_t place_in(std::uint32_t unit, std::uint32_t number) const {
        return is_region(unit) ? number - regions_[unit]->first : number;
    }
    [[noreturn]] void refuse_cycle(const std::vector<std::uint32_t>& cycle) const {
        const auto region = std::ranges::find_if(cycle, [&](std::uint32_t unit) { return is_region(unit); });
        const std::uint32_t other = region == cycle.begin() ? cycle.back() : cycle.front();
        refuse(fmt::format("edge inference treats the region captured at {} as one node, but {} comes after a part of "
                           "it and before another; capture two regions",
                           regions_[*region]->location, describe_node(graph_, other)),
               node_subject(graph_, other, "build: "));
    }

    const GraphState& graph_;
    std::vector<const RegionNodes*> regions_; ///< by node; null for a node of no region
    std::vector<std::uint32_t> first_;        ///< by node: the first node of its unit
};

/// A join needs this many nodes on both sides; fewer are connected each to each, since a join costs launch time, too.
constexpr std::uint32_t joins_from = 32;

/// The edges without a written edge, of any kind, between the same nodes.
std::vector<EdgeRecord> without_written(const GraphState& graph, std::vector<EdgeRecord>&& edges) {
    std::vector<EdgeRecord> written = graph.edges();
    for (EdgeRecord& edge : written)
        edge.kind = EdgeKind::full;
    const EdgeSet there(written);
    std::erase_if(edges, [&](const EdgeRecord& edge) { return there.contains(edge); });
    return std::move(edges);
}

/// Infers edges in program order: `.after` first, then the order of addition. `joins`: whether joins are allowed. Joins
/// are numbered as the next nodes added, in order.
InferredOrder inferred_order_of(const GraphState& graph, bool joins) {
    AccessList accesses = access_list_of(graph, Sizes::most);
    const std::size_t nodes = graph.records().nodes().size();
    const Units units(graph);
    std::vector<EdgeRecord> known = units.edges();
    const std::vector<std::uint32_t> order = program_order(nodes, known);
    const std::vector<std::uint32_t> place = places_in(order);
    std::vector<std::uint32_t> place_of_unit(nodes);
    for (std::uint32_t node = 0; node < nodes; ++node)
        place_of_unit[node] = place[units.of(node)];
    accesses.renumber(place_of_unit);
    InferenceRules rules;
    rules.keeps_place = units.keep_places(place);
    rules.left_out = units.left_out(place);
    if (joins) rules.joins_from = joins_from;
    for (const EdgeRecord& edge : known) {
        if (edge.kind == EdgeKind::full) continue;
        rules.has_early.resize(nodes);
        rules.has_early[place[edge.to]] = true;
    }
    // An edge to or from a part of a region does not replace one to or from the whole region.
    std::erase_if(known,
                  [&](const EdgeRecord& edge) { return units.is_region(edge.from) || units.is_region(edge.to); });
    for (EdgeRecord& edge : known)
        edge = {place[edge.from], place[edge.to], edge.kind};
    InferredOrder inferred = inferred_order(accesses, nodes, known, rules);
    const auto number = [&](std::uint32_t at) { return at < nodes ? order[at] : at; };
    std::vector<EdgeRecord> found;
    for (const EdgeRecord& edge : inferred.edges)
        units.connect(number(edge.from), number(edge.to), found);
    if (!graph.construction().regions.empty()) found = without_written(graph, std::move(found));
    for (std::uint32_t& user : inferred.joins)
        user = order[user];
    return {std::move(found), std::move(inferred.joins)};
}

/// Adds an empty node, a join, before node `user` and others.
void add_join(GraphState& graph, std::uint32_t user) {
    const SourceLocation where = graph.records().nodes()[user].location;
    Label label("inferred join");
    graph.reserve_node();
    cudaGraphNode_t const node = added_native_node<GraphError>(graph.native(), native_params(CU_GRAPH_NODE_TYPE_EMPTY));
    graph.append(node, {NodeKind::empty, std::monostate(), std::move(label), where});
}

} // namespace

InferredEdges::InferredEdges(GraphState& graph) {
    try {
        add_to(graph);
    } catch (...) {
        take_back();
        throw;
    }
}

InferredEdges::~InferredEdges() {
    take_back();
}

void InferredEdges::take_back() noexcept {
    for (const Added& added : added_) {
        added.graph->edge_lists().logical().take_back(added.before);
        while (added.graph->records().nodes().size() > added.nodes_before)
            added.graph->remove_last();
    }
}

void InferredEdges::add_to(GraphState& graph) {
    check_edges(graph, "build");
    // No joins in a graph with memory nodes: CUDA cannot remove nodes from it.
    const InferredOrder order = inferred_order_of(graph, !has_memory_nodes(graph.root()));
    Edges& logical = graph.edge_lists().logical();
    logical.reserve(order.edges.size());
    added_.push_back({&graph, logical.size(), graph.records().nodes().size()});
    for (const std::uint32_t user : order.joins)
        add_join(graph, user);
    for (const EdgeRecord& edge : order.edges)
        logical.add(edge);
    for (const auto& inner : graph.nested())
        if (inner->tree().place() == Place::body) add_to(*inner);
}

} // namespace cudag::detail
