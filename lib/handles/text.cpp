// Names of nodes and graphs in logs.
#include "text.hpp"

#include "graph/construction.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"
#include "graph/node_record.hpp"

#include <cudag/format.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>

namespace cudag {

using detail::GraphIdentity;
using detail::GraphState;

std::string detail::count_nodes(const GraphState& graph) {
    constexpr std::size_t kinds = 32;
    std::array<std::size_t, kinds> counts{};
    for (const detail::NodeRecord& node : records_of(graph).nodes())
        ++counts[std::min(static_cast<std::size_t>(node.kind), kinds - 1)];
    std::string list;
    for (std::size_t kind = 0; kind < kinds; ++kind)
        if (counts[kind] != 0)
            list += fmt::format("{}{} {}", list.empty() ? " (" : ", ", counts[kind], static_cast<NodeKind>(kind));
    const std::size_t all = records_of(graph).nodes().size();
    return fmt::format("{} node{}{}{}", all, all == 1 ? "" : "s", list, list.empty() ? "" : ")");
}

std::string to_string(const Node& node) {
    if (node == Node()) return "empty node handle";
    if (!GraphIdentity::is_alive(node)) return "handle of a node whose graph no longer exists";
    if (const detail::RemovedNode* removed = GraphIdentity::find_removed(node); removed != nullptr)
        return fmt::format("handle of {}, which was removed at {}", describe_removed(*removed), removed->removed_at);
    return detail::describe_node(GraphIdentity::of(node), GraphIdentity::index_unchecked(node));
}

std::string to_string(const Graph& graph) {
    const std::shared_ptr<GraphState>& shared = detail::Access::shared_state(graph);
    if (!shared) return "moved-from Graph";
    if (identity_of(*shared).is_orphan()) return "Graph inside a node of a graph that no longer exists";
    const GraphState& state = *shared;
    const std::size_t edges = edges_of(state).size();
    const SourceLocation& where = construction_of(root_of(state)).made_at;
    return fmt::format("graph{} of {} and {} edge{}{}", detail::quoted_name(state), detail::count_nodes(state), edges,
                       edges == 1 ? "" : "s", where.line == 0 ? "" : fmt::format(", made at {}", where));
}

} // namespace cudag
