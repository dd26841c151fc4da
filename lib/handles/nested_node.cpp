// Handles of child and conditional nodes: the graphs inside.
#include <cudag/nested_node.hpp>

#include "cuda/failure.hpp"
#include "graph/find.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"

#include <fmt/format.h>

namespace cudag::detail {

Node counterpart_inside(const Node& child, const Node& original) {
    const GraphState& outer = GraphIdentity::of(child);
    const std::uint32_t index = GraphIdentity::index_unchecked(child);
    if (const auto* inner = find_nested(outer, index, 0))
        if (const Node found = find_counterpart(**inner, original, HandlesOf::origin_and_itself); found != Node())
            return found;
    const GraphState& other = GraphIdentity::of(original);
    refuse(fmt::format("it is not of the graph inside {}, nor of the one that was given to child(), but of {}",
                       describe_node(outer, index), describe_graph(other)),
           node_subject(other, GraphIdentity::index_unchecked(original), "inside: "));
}

Graph graph_inside(const Node& node, std::size_t number) {
    const GraphState& outer = GraphIdentity::of(node);
    const std::uint32_t index = GraphIdentity::index_unchecked(node);
    const auto* inner = find_nested(outer, index, number);
    if (inner == nullptr)
        refuse(fmt::format("there is no graph {} inside it: it has {}", number, count_inside(node)),
               node_subject(outer, index));
    return Access::graph_of(std::shared_ptr(*inner));
}

std::size_t count_inside(const Node& node) {
    return nested_in(GraphIdentity::of(node), GraphIdentity::index_unchecked(node)).size();
}

} // namespace cudag::detail
