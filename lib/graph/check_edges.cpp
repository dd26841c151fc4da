// Checks of edges for cycles and contradictions, with errors that name the nodes.
#include "check_edges.hpp"

#include "cuda/failure.hpp"
#include "graph_edges.hpp"
#include "graph_records.hpp"
#include "names.hpp"
#include "node_record.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

[[noreturn]] void refuse_cycle(const GraphState& graph, const std::vector<std::uint32_t>& cycle,
                               const std::string& action) {
    constexpr std::size_t shown = 5; // from the beginning, and from the end
    Subject subject{action, {}, records_of(graph).nodes()[cycle.front()].location};
    std::string path;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
        if (i == shown && cycle.size() > 2 * shown + 1) {
            path += fmt::format("{} more nodes -> ", cycle.size() - 2 * shown);
            i = cycle.size() - shown;
        }
        path += describe_node(graph, cycle[i]) + " -> ";
        subject.labels.emplace_back(records_of(graph).nodes()[cycle[i]].label);
    }
    path += describe_node(graph, cycle.front());
    refuse("the edges close a cycle: " + path + "; remove one of these .after edges", std::move(subject));
}

[[noreturn]] void refuse_contradiction(const GraphState& graph, const std::vector<EdgeRecord>& edges,
                                       const std::string& action) {
    const EdgeRecord& first = edges.front();
    const NodeRecord& to = records_of(graph).nodes()[first.to];
    Subject subject{
        action + ": " + describe_node(graph, first.to),
        {std::string(records_of(graph).nodes()[first.from].label), std::string(to.label)},
        to.location,
    };
    refuse("it comes after " + describe_node(graph, first.from) + " by a " + std::string(to_string(first.kind)) +
               " and by a " + std::string(to_string(edges.back().kind)) +
               " edge; CUDA allows one edge between two nodes: keep one of these .after",
           std::move(subject));
}

} // namespace

void check_edges(const GraphState& graph, const char* action) {
    if (edge_lists_of(graph).logical().size() == 0) return;
    check_edges(graph, [action] { return std::string(action); });
}

void check_edges(const GraphState& graph, const std::function<std::string()>& action) {
    const Edges& edges = edge_lists_of(graph).logical();
    const std::size_t nodes = records_of(graph).nodes().size();
    if (const auto cycle = edges.find_cycle(nodes); !cycle.empty()) refuse_cycle(graph, cycle, action());
    if (const auto found = edges.find_contradiction(nodes); !found.empty())
        refuse_contradiction(graph, found, action());
}

void settle_edges(GraphState& graph, const char* action) {
    GraphEdges& edges = edge_lists_of(graph);
    if (!edges.logical().only_extend()) {
        check_edges(graph, action);
        edges.merge(records_of(graph).nodes().size());
    }
    edges.logical().settle();
}

} // namespace cudag::detail
