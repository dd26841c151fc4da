// GraphBuilder::inline_graph: the nodes of a graph, written again into another one.
#include <cudag/inlined_graph.hpp>

#include "cuda/failure.hpp"
#include "graph/find.hpp"
#include "graph/graph_state.hpp"
#include "graph_writer.hpp"
#include "require_allowed.hpp"

#include <cudag/detail/record.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace cudag {

namespace detail {

/// The nodes written for the nodes of `source`.
struct InlinedNodes {
    std::optional<Node> source = std::nullopt; ///< its first node; none for a graph without nodes
    std::vector<Node> nodes = {};
    std::vector<Node> roots = {};
    std::vector<Node> tails = {};
};

namespace {

/// Lists the nodes of `graph` from `first` on, written for those of `source`.
std::shared_ptr<const InlinedNodes> list_nodes(GraphState& graph, const GraphState& source, std::uint32_t first,
                                               const SourceLocation& where) {
    InlinedNodes list;
    const std::size_t count = source.records().nodes().size();
    std::vector<bool> has_before(count);
    std::vector<bool> has_after(count);
    for (const EdgeRecord& edge : source.edges())
        has_before[edge.to] = has_after[edge.from] = true;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Node made = graph.identity().handle(first + i);
        list.nodes.push_back(made);
        if (!has_before[i]) list.roots.push_back(made);
        if (!has_after[i]) list.tails.push_back(made);
    }
    if (count != 0)
        list.source = source.identity().handle(0);
    else
        list.nodes = list.roots = list.tails = {add_join(graph, nullptr, 0, where)};
    return std::make_shared<const InlinedNodes>(std::move(list));
}

} // namespace

std::shared_ptr<const InlinedNodes> inline_nodes(GraphState& graph, GraphState& source, const SourceLocation& where) {
    require_allowed(graph, NodeKind::empty, where);
    require_root(source, "inline_graph");
    read_all(source);
    const auto lock = source.lock();
    const auto first = static_cast<std::uint32_t>(graph.records().nodes().size());
    write_again(graph, source, fmt::format("inline_graph at {}", where), where);
    return list_nodes(graph, source, first, where);
}

} // namespace detail

const detail::InlinedNodes& InlinedGraph::list() const {
    if (nodes_ == nullptr) detail::refuse("an empty InlinedGraph was used; GraphBuilder::inline_graph returns one");
    return *nodes_;
}

std::vector<Node> InlinedGraph::nodes() const {
    return list().nodes;
}
std::vector<Node> InlinedGraph::roots() const {
    return list().roots;
}
std::vector<Node> InlinedGraph::tails() const {
    return list().tails;
}

Node InlinedGraph::counterpart_of(const Node& original) const {
    const detail::InlinedNodes& list = this->list();
    const detail::GraphState& other = detail::GraphIdentity::of(original);
    const std::uint32_t index = detail::GraphIdentity::index_unchecked(original);
    if (list.source) {
        const detail::GraphState& source = detail::GraphIdentity::of(*list.source);
        struct Step {
            std::uint32_t node;
            std::uint32_t number; // of the graph inside the node
        };
        std::vector<Step> way; // the nodes around the original, from the innermost on
        const detail::GraphState* place = &other;
        for (; place != &source && place->tree().parent() != nullptr; place = place->tree().parent())
            way.push_back({place->tree().parent_node(), place->tree().number()});
        if (place == &source) {
            if (way.empty()) return list.nodes[index];
            const Node& outer = list.nodes[way.back().node];
            const detail::GraphState* graph = &detail::GraphIdentity::of(outer);
            std::uint32_t node = detail::GraphIdentity::index_unchecked(outer);
            for (;;) {
                graph = find_nested(*graph, node, way.back().number)->get();
                way.pop_back();
                if (way.empty()) return graph->identity().handle(index);
                node = way.back().node;
            }
        }
    }
    detail::refuse(fmt::format("the node is not of the graph that was given to inline_graph(), but of {}",
                               detail::describe_graph(other)),
                   detail::node_subject(other, index, "counterpart: "));
}

} // namespace cudag
