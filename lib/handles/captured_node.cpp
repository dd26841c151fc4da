// Handles of captured regions.
#include <cudag/captured_node.hpp>

#include "cuda/failure.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/in_force.hpp"
#include "graph/names.hpp"
#include "graph/node_record.hpp"
#include "graph/region_nodes.hpp"
#include "order/declarations.hpp"
#include "order/tracking.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <span>
#include <utility>

namespace cudag {

using detail::GraphIdentity;
using detail::GraphState;

namespace {

std::vector<Node> handles(const GraphState& graph, std::span<const std::uint32_t> numbers) {
    std::vector<Node> nodes;
    nodes.reserve(numbers.size());
    for (const std::uint32_t number : numbers)
        nodes.push_back(identity_of(graph).numbered(number));
    return nodes;
}

/// Returns the graph of `first`, the first node of a region. Throws GraphError if the node was removed.
GraphState& graph_of(const Node& first) {
    GraphState& graph = GraphIdentity::of(first);
    static_cast<void>(GraphIdentity::index_unchecked(first));
    return graph;
}

} // namespace

void detail::append_tails(std::vector<Node>& list, const CapturedNode& region) {
    const std::vector<Node> tails = region.tails();
    list.insert(list.end(), tails.begin(), tails.end());
}

std::vector<Node> CapturedNode::nodes() const {
    const GraphState& graph = graph_of(first_);
    std::vector<Node> nodes;
    nodes.reserve(region_->count);
    for (std::uint32_t i = 0; i < region_->count; ++i)
        nodes.push_back(identity_of(graph).numbered(region_->first + i));
    return nodes;
}

std::vector<Node> CapturedNode::roots() const {
    return handles(graph_of(first_), region_->roots);
}

std::vector<Node> CapturedNode::tails() const {
    return handles(graph_of(first_), region_->tails);
}

SourceLocation CapturedNode::location() const {
    static_cast<void>(graph_of(first_));
    return region_->location;
}

CapturedNode CapturedNode::label(std::string_view text) const {
    GraphState& graph = GraphIdentity::of(first_);
    const std::uint32_t first = GraphIdentity::index_unchecked(first_);
    const detail::Label shared(text);
    for (std::uint32_t i = first; i < first + region_->count; ++i)
        if (detail::NodeRecord& node = records_of(graph).record(i); node.label.empty()) node.label = shared;
    return *this;
}

CapturedNode CapturedNode::declare(std::vector<detail::ArgumentAccess>&& accesses) const {
    GraphState& graph = GraphIdentity::of(first_);
    const auto lock = lock_of(graph);
    const std::uint32_t unit = detail::unit_of(*region_);
    for (detail::ArgumentAccess& access : accesses)
        access.unit = unit;
    std::vector<std::uint32_t> unknown;
    const std::uint32_t first = GraphIdentity::index_unchecked(first_);
    for (std::uint32_t i = first; i < first + region_->count; ++i) {
        bool has_declared = false;
        for_each_declared(graph, i, [&](const auto& access) { has_declared = has_declared || access.unit == unit; });
        if (has_declared || why_untracked(graph, i)) unknown.push_back(i);
    }
    for (const std::uint32_t i : unknown)
        detail::declare_accesses(graph, i, std::vector(accesses));
    return *this;
}

void CapturedNode::add_edges(const Node* from, std::size_t count) const {
    GraphState& graph = GraphIdentity::of(first_);
    const std::uint32_t first = GraphIdentity::index_unchecked(first_);
    for (const Node& earlier : std::span(from, count)) {
        if (!identity_of(graph).is_own(earlier)) continue; // refused below
        const std::uint32_t index = GraphIdentity::index_unchecked(earlier);
        if (index - first < region_->count)
            detail::refuse(
                fmt::format("it is in the region captured at {}, which cannot come after itself", region_->location),
                node_subject(graph, index, "after: "));
    }
    edge_lists_of(graph).logical().reserve(region_->roots.size() * count); // only the first root can fail
    for (const std::uint32_t root : region_->roots)
        detail::add_edges(identity_of(graph).numbered(root), from, count);
}

} // namespace cudag
