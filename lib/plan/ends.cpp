// The ends of a graph: many kernels at once, or one kernel before and after them.
#include "ends.hpp"

#include "edges/edge_groups.hpp"
#include "edges/topological_order.hpp"

#include <algorithm>
#include <functional>

namespace cudag::detail {

namespace {

/// Computes the number of edges on the longest way from each node to an end.
std::vector<std::uint32_t> ways_to_end(std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    const EdgeGroups outgoing(nodes, edges, &EdgeRecord::from);
    const std::vector<std::uint32_t> order = topological_order(edges, outgoing);
    std::vector<std::uint32_t> ways(nodes);
    for (auto node = order.rbegin(); node != order.rend(); ++node)
        for (std::uint32_t i = outgoing.first[*node]; i < outgoing.first[*node + 1]; ++i)
            ways[*node] = std::max(ways[*node], ways[edges[outgoing.items[i]].to] + 1);
    return ways;
}

/// Whether some of the nodes `first` would delay the end of the graph noticeably if all became ready at once.
bool would_compete(const std::vector<std::uint32_t>& first, std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    constexpr std::uint32_t long_way = 50; // one more kernel on it is 2 % of the time
    if (first.size() <= max_first_kernels_at_once) return false;
    const std::vector<std::uint32_t> ways = ways_to_end(nodes, edges);
    const auto way_of = [&](std::uint32_t node) { return ways[node]; };
    const std::uint32_t longest = std::ranges::max(first, {}, way_of);
    const std::uint32_t way = way_of(longest);
    const auto precede_little = std::ranges::count_if(first, [&](std::uint32_t node) { return 2 * ways[node] < way; });
    return way < long_way && 4 * static_cast<std::size_t>(precede_little) > first.size();
}

} // namespace

void plan_ends(const std::vector<bool>& is_kernel, PlannedEdges& planned) {
    const std::size_t nodes = is_kernel.size();
    const std::size_t all = nodes + planned.kernels;
    std::vector<char> has_before(all), has_after(all);
    for (const EdgeRecord& edge : planned.edges)
        has_before[edge.to] = has_after[edge.from] = 1;
    std::vector<std::uint32_t> first, last;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        if (!is_kernel[node]) continue;
        if (!has_before[node]) first.push_back(node);
        if (!has_after[node]) last.push_back(node);
    }
    const bool begins_at_once = first.size() >= min_kernels_at_end && !would_compete(first, all, planned.edges);
    if (begins_at_once) {
        const auto kernel = static_cast<std::uint32_t>(nodes + planned.kernels++);
        for (const std::uint32_t node : first)
            planned.edges.push_back({kernel, node});
        planned.joins.push_back({JoinRecord::no_node, 0, static_cast<std::uint32_t>(first.size()), JoinForm::kernel,
                                 JoinReason::launch_call});
    }
    if (last.size() >= min_kernels_at_end && (begins_at_once || first.size() == 1)) {
        const auto kernel = static_cast<std::uint32_t>(nodes + planned.kernels++);
        for (const std::uint32_t node : last)
            planned.edges.push_back({node, kernel});
        planned.joins.push_back({JoinRecord::no_node, static_cast<std::uint32_t>(last.size()), 0, JoinForm::kernel,
                                 JoinReason::launch_call});
    }
}

void plan_long_line(const std::vector<bool>& is_kernel, PlannedEdges& planned) {
    const std::size_t nodes = is_kernel.size();
    if (nodes < min_kernels_in_long_line || planned.edges.size() + 1 != nodes || planned.kernels != 0) return;
    if (!std::ranges::all_of(is_kernel, std::identity())) return;
    std::vector<bool> has_before(nodes), has_after(nodes);
    for (const EdgeRecord& edge : planned.edges) {
        if (edge.kind != EdgeKind::full || has_before[edge.to] || has_after[edge.from]) return;
        has_before[edge.to] = has_after[edge.from] = true;
    }
    const auto without = [](const std::vector<bool>& others) {
        return static_cast<std::uint32_t>(std::ranges::find(others, false) - others.begin());
    };
    planned.edges.push_back({without(has_before), without(has_after)});
    planned.joins.push_back({JoinRecord::no_node, 1, 1, JoinForm::edges, JoinReason::long_line});
}

} // namespace cudag::detail
