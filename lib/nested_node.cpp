// What handles of child and conditional nodes answer about the graphs inside.
#include <cudag/nested_node.hpp>

#include "failure.hpp"
#include "graph_state.hpp"

#include <fmt/format.h>

namespace cudag::detail {

namespace {

/// `original` as a handle of `graph`, of the graph that it was cloned from, or of one inside them; or an empty handle.
Node find_counterpart(const GraphState& graph, const Node& original) {
    const std::uint32_t index = GraphState::index_unchecked(original);
    if (graph.is_own(original) || graph.is_of_origin(original)) return graph.handle(index);
    for (const auto& inner : graph.nested())
        if (const Node found = find_counterpart(*inner, original); found != Node()) return found;
    return {};
}

} // namespace

Node counterpart_inside(const Node& child, const Node& original) {
    const GraphState& outer = GraphState::of(child);
    const std::uint32_t index = GraphState::index_unchecked(child);
    if (const auto* inner = outer.find_nested(index, 0))
        if (const Node found = find_counterpart(**inner, original); found != Node()) return found;
    refuse(fmt::format("it is not of the graph inside {}", describe_node(outer, index)),
           node_subject(GraphState::of(original), GraphState::index_unchecked(original), "inside: "));
}

Graph graph_inside(const Node& node, std::size_t number) {
    const GraphState& outer = GraphState::of(node);
    const std::uint32_t index = GraphState::index_unchecked(node);
    const auto* inner = outer.find_nested(index, number);
    if (inner == nullptr)
        refuse(fmt::format("there is no graph {} inside it: it has {}", number, count_inside(node)),
               node_subject(outer, index));
    return Graph(*inner);
}

std::size_t count_inside(const Node& node) {
    const GraphState& outer = GraphState::of(node);
    std::size_t count = 0;
    while (outer.find_nested(GraphState::index_unchecked(node), count) != nullptr)
        ++count;
    return count;
}

} // namespace cudag::detail
