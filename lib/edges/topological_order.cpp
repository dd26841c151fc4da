// A topological order: an order of nodes respected by all edges.
#include "topological_order.hpp"

#include <algorithm>

namespace cudag::detail {

std::vector<std::uint32_t> topological_order(const std::vector<EdgeRecord>& edges, const EdgeGroups& outgoing) {
    std::vector<std::uint32_t> waits_for(outgoing.first.size() - 1);
    for (const EdgeRecord& edge : edges)
        ++waits_for[edge.to];
    std::vector<std::uint32_t> order;
    order.reserve(waits_for.size());
    for (std::uint32_t node = 0; node < waits_for.size(); ++node)
        if (waits_for[node] == 0) order.push_back(node);
    for (std::size_t i = 0; i < order.size(); ++i)
        for (std::uint32_t item = outgoing.first[order[i]]; item < outgoing.first[order[i] + 1]; ++item)
            if (const std::uint32_t to = edges[outgoing.items[item]].to; --waits_for[to] == 0) order.push_back(to);
    return order;
}

std::vector<std::uint32_t> places_in(const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> places(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i)
        places[order[i]] = i;
    return places;
}

bool are_forward(const std::vector<EdgeRecord>& edges) noexcept {
    return std::all_of(edges.begin(), edges.end(), [](const EdgeRecord& edge) { return edge.from < edge.to; });
}

} // namespace cudag::detail
