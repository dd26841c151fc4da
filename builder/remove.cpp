// GraphBuilder: removal of nodes and edges.
#include "cuda/failure.hpp"
#include "graph/device_rules.hpp"
#include "graph/find.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "graph/region_nodes.hpp"
#include "node/kernel_attributes.hpp"
#include "require_allowed.hpp"

#include <cudag/detail/record.hpp>
#include <cudag/format.hpp>
#include <cudag/graph.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// Throws GraphError if the nodes and edges of `graph` must stay now, because of CUDA or of an open body or capture.
void require_changeable(const GraphState& graph, const char* action, const SourceLocation& where) {
    const auto refuse_now = [&](const std::string& reason) {
        refuse(reason, {fmt::format("{} at {}", action, where), {}, where});
    };
    require_not_destroyed(graph);
    if (graph.identity().is_orphan())
        refuse_now("this builder wrote a body that has thrown, or whose graph no longer exists");
    if (graph.construction().is_built && graph.tree().place() == Place::body)
        refuse_now(fmt::format("{} has ended; remove its nodes before it ends", describe_place(graph)));
    if (graph.construction().is_built)
        refuse_now(fmt::format("its Graph is built, at {}; remove before build()", graph.construction().made_at));
    if (const GraphState* body = graph.construction().open_body; body != nullptr)
        refuse_now(
            fmt::format("{} is being written; remove nodes outside of it before or after that", describe_place(*body)));
    for (const GraphState* around = &graph; around != nullptr; around = around->tree().parent())
        if (around->construction().open_region != nullptr || around->construction().is_captured_into)
            refuse_now(
                "a stream is captured into the graph, from which CUDA removes nothing meanwhile; remove before or "
                "after that");
}

/// Returns the indices of `nodes`, each once, in order.
std::vector<std::uint32_t> indices_of(const GraphState& graph, std::span<const Node> nodes) {
    std::vector<std::uint32_t> indices;
    indices.reserve(nodes.size());
    for (const Node& node : nodes)
        indices.push_back(index_of(graph, node, "remove"));
    std::ranges::sort(indices);
    indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
    return indices;
}

[[noreturn]] void refuse_node(const GraphState& graph, std::uint32_t index, const std::string& reason) {
    refuse(reason, node_subject(graph, index, "remove: "), cudaErrorNotSupported);
}

void require_no_memory(const GraphState& graph, std::uint32_t index) {
    const NodePlace node = find_memory_node(graph);
    if (!node) return;
    if (node == NodePlace{&graph, index}) refuse_node(graph, index, "CUDA keeps nodes that allocate or free");
    refuse_node(graph, index,
                fmt::format("CUDA removes no node from a graph with memory nodes, and this one has {}; remove nodes "
                            "before the first alloc() and free()",
                            node.describe()));
}

/// Throws GraphError if one of `gone` is a device-updatable node, or has one inside it.
void require_no_device_updatable(const GraphState& graph, const std::vector<std::uint32_t>& gone) {
    if (!may_have_device_updatable(graph)) return;
    constexpr const char* reason = "CUDA keeps device-updatable kernels";
    for (const std::uint32_t index : gone) {
        const auto* kernel = std::get_if<const KernelParams*>(&graph.records().nodes()[index].params);
        if (kernel != nullptr && is_device_updatable(**kernel)) refuse_node(graph, index, reason);
        for (const auto& inner : graph.nested_in(index))
            if (const NodePlace node = find_device_updatable(*inner))
                refuse_node(graph, index, fmt::format("{}, and this has {}", reason, node.describe()));
    }
}

/// Throws GraphError if `gone` has only a part of a region.
void require_whole_regions(const GraphState& graph, const std::vector<std::uint32_t>& gone) {
    for (const RegionNodes* region : graph.construction().regions) {
        const std::uint32_t first = GraphIdentity::index_unchecked(graph.identity().numbered(region->first));
        const auto begin = std::ranges::lower_bound(gone, first);
        const auto end = std::lower_bound(begin, gone.end(), first + region->count);
        if (begin == end || end - begin == region->count) continue;
        refuse_node(graph, *begin,
                    fmt::format("it is a part of the region captured at {}, which stays or goes as a whole; remove the "
                                "region",
                                region->location));
    }
}

/// Finds the region of both nodes; null if there is none.
const RegionNodes* find_region(const GraphState& graph, const EdgeRecord& edge) {
    const auto& regions = graph.construction().regions; // in order
    const auto after = std::ranges::upper_bound(regions, graph.identity().number_of(edge.from), {},
                                                [](const auto* each) { return each->first; });
    if (after == regions.begin()) return nullptr;
    const RegionNodes& region = **std::prev(after);
    const auto has = [&](std::uint32_t index) {
        return graph.identity().number_of(index) - region.first < region.count;
    }; // wraps
    return has(edge.from) && has(edge.to) ? &region : nullptr;
}

Subject edge_subject(const GraphState& graph, const EdgeRecord& edge) {
    Subject subject = node_subject(graph, edge.to, "remove_edge: ");
    subject.labels.insert(subject.labels.begin(), std::string(graph.records().nodes()[edge.from].label));
    return subject;
}

/// Throws GraphError if one of `gone` does not exist, or cannot be removed.
void require_removable(const GraphState& graph, std::span<const EdgeRecord> gone) {
    std::vector<bool> found(gone.size());
    for (const EdgeRecord& edge : graph.edges())
        if (const EdgeRecord* each = find_ends(gone, edge); each != nullptr)
            found[static_cast<std::size_t>(each - gone.data())] = true;
    for (std::size_t i = 0; i < gone.size(); ++i) {
        if (!found[i])
            refuse(fmt::format("it does not come after {}: there is no such edge", describe_node(graph, gone[i].from)),
                   edge_subject(graph, gone[i]));
        if (const RegionNodes* region = find_region(graph, gone[i]); region != nullptr)
            refuse(fmt::format("the edge from {} is in the region captured at {}, which stays or goes as a whole",
                               describe_node(graph, gone[i].from), region->location),
                   edge_subject(graph, gone[i]), cudaErrorNotSupported);
    }
    if (!graph.records().special().memory) return;
    for (const EdgeRecord& edge : graph.edge_lists().native())
        if (find_ends(gone, edge) != nullptr)
            refuse(fmt::format("CUDA has the edge from {} already, and removes none from a graph with memory nodes, "
                               "or in which an allocation has failed; remove edges before the first alloc()",
                               describe_node(graph, edge.from)),
                   edge_subject(graph, edge), cudaErrorNotSupported);
}

} // namespace

void remove_nodes(GraphState& graph, std::span<const Node> nodes, const SourceLocation& where) {
    require_changeable(graph, "remove", where);
    const std::vector<std::uint32_t> gone = indices_of(graph, nodes);
    if (gone.empty()) return;
    require_no_memory(graph, gone.front());
    require_no_device_updatable(graph, gone);
    require_whole_regions(graph, gone);
    graph.remove(gone, where);
}

void remove_edges(GraphState& graph, std::span<const Edge> edges, const SourceLocation& where) {
    require_changeable(graph, "remove_edge", where);
    std::vector<EdgeRecord> gone;
    gone.reserve(edges.size());
    for (const Edge& edge : edges)
        gone.push_back({index_of(graph, edge.from, "remove_edge"), index_of(graph, edge.to, "remove_edge")});
    std::ranges::sort(gone, edge_precedes);
    gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
    if (gone.empty()) return;
    require_removable(graph, gone);
    graph.edge_lists().remove(gone);
}

} // namespace cudag::detail
