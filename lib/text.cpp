// What nodes, graphs, execs and launch configurations are called in logs.
#include <cudag/format.hpp>

#include "exec_state.hpp"
#include "graph_state.hpp"
#include "kernel_attributes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace cudag {

using detail::GraphState;

namespace {

/// "3 nodes (2 kernel, 1 memcpy)", without those of graphs inside nodes.
std::string count_nodes(const GraphState& graph) {
    constexpr std::size_t kinds = 32;
    std::array<std::size_t, kinds> counts{};
    for (const detail::NodeRecord& node : graph.nodes())
        ++counts[std::min(static_cast<std::size_t>(node.kind), kinds - 1)];
    std::string list;
    for (std::size_t kind = 0; kind < kinds; ++kind)
        if (counts[kind] != 0)
            list += fmt::format("{}{} {}", list.empty() ? " (" : ", ", counts[kind], static_cast<NodeKind>(kind));
    const std::size_t all = graph.nodes().size();
    return fmt::format("{} node{}{}{}", all, all == 1 ? "" : "s", list, list.empty() ? "" : ")");
}

/// "8", "8 x 4", "8 x 4 x 2"
std::string extent(const dim3& size) {
    std::string text = fmt::to_string(size.x);
    if (size.y != 1 || size.z != 1) text += fmt::format(" x {}", size.y);
    if (size.z != 1) text += fmt::format(" x {}", size.z);
    return text;
}

} // namespace

std::string to_string(const Node& node) {
    if (node == Node()) return "empty node handle";
    if (!GraphState::is_alive(node)) return "handle of a node whose graph no longer exists";
    return detail::describe_node(GraphState::of(node), GraphState::index_unchecked(node));
}

std::string to_string(const Graph& graph) {
    if (!graph.state_) return "moved-from Graph";
    if (graph.state_->is_orphan()) return "Graph inside a node of a graph that no longer exists";
    const GraphState& state = *graph.state_;
    const std::size_t edges = state.edges().size();
    const SourceLocation& where = state.root().made_at();
    return fmt::format("graph of {} and {} edge{}{}", count_nodes(state), edges, edges == 1 ? "" : "s",
                       where.line == 0 ? "" : fmt::format(", made at {}", where));
}

std::string to_string(const Exec& exec) {
    if (!exec.state_) return "moved-from Exec";
    const SourceLocation& where = exec.state_->source().made_at();
    const std::uint64_t launches = exec.state_->replays();
    return fmt::format("exec of {}, launched {} time{}{}", count_nodes(exec.state_->source()), launches,
                       launches == 1 ? "" : "s",
                       where.line == 0 ? "" : fmt::format(", of the graph made at {}", where));
}

std::string to_string(const LaunchConfig& config) {
    std::string text = fmt::format("grid {}, block {}", extent(config.grid), extent(config.block));
    if (config.shared_bytes != 0) text += fmt::format(", shared_bytes {}", config.shared_bytes);
    return text + detail::describe_attributes(config, ", ");
}

} // namespace cudag
