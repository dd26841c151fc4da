// Infers edges, and takes them back.
#include "inferred_edges.hpp"

#include "graph/check_edges.hpp"
#include "graph/node_accesses.hpp"
#include "plan/inference.hpp"
#include "plan/program_order.hpp"

#include <algorithm>
#include <numeric>

namespace cudag::detail {

namespace {

/// In the order of the program: what `.after` says comes first, then the order in which nodes were added.
std::vector<EdgeRecord> needed_edges(const GraphState& graph) {
    NodeAccesses accesses = accesses_of(graph);
    const std::size_t nodes = graph.nodes().size();
    const std::vector<std::uint32_t> order = program_order(nodes, graph.edges());
    std::vector<std::uint32_t> place(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i)
        place[order[i]] = i;
    for (MemoryAccess& access : accesses.list)
        access.node = place[access.node];
    std::ranges::stable_sort(accesses.list, {}, &MemoryAccess::node);
    std::vector<EdgeRecord> known = graph.edges();
    for (EdgeRecord& edge : known)
        edge = {place[edge.from], place[edge.to], edge.kind};
    std::vector<EdgeRecord> found = inferred_edges(accesses.list, nodes, known);
    for (EdgeRecord& edge : found)
        edge = {order[edge.from], order[edge.to], edge.kind};
    return found;
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
    for (const Added& added : added_)
        added.graph->edge_lists().logical().take_back(added.before);
}

void InferredEdges::add_to(GraphState& graph) {
    check_edges(graph, "build");
    const std::vector<EdgeRecord> edges = needed_edges(graph);
    Edges& logical = graph.edge_lists().logical();
    logical.reserve(edges.size());
    added_.push_back({&graph, logical.size()});
    for (const EdgeRecord& edge : edges)
        logical.add(edge);
    for (const auto& inner : graph.nested())
        if (inner->place() == Place::body) add_to(*inner);
}

} // namespace cudag::detail
