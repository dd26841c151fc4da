// Program order: nodes by number as far as edges allow.
#include "program_order.hpp"

#include "edge_groups.hpp"
#include "topological_order.hpp"

#include <functional>
#include <numeric>
#include <queue>

namespace cudag::detail {

std::vector<std::uint32_t> program_order(std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    std::vector<std::uint32_t> order(nodes);
    if (are_forward(edges)) {
        std::iota(order.begin(), order.end(), 0U);
        return order;
    }
    const EdgeGroups outgoing(nodes, edges, &EdgeRecord::from);
    std::vector<std::uint32_t> waits_for(nodes);
    for (const EdgeRecord& edge : edges)
        ++waits_for[edge.to];
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t node = 0; node < nodes; ++node)
        if (waits_for[node] == 0) ready.push(node);
    for (std::uint32_t& place : order) {
        place = ready.top();
        ready.pop();
        for (std::uint32_t i = outgoing.first[place]; i < outgoing.first[place + 1]; ++i)
            if (const std::uint32_t to = edges[outgoing.items[i]].to; --waits_for[to] == 0) ready.push(to);
    }
    return order;
}

} // namespace cudag::detail
