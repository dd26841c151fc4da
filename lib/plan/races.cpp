// Accesses to memory that nothing orders and that must be ordered.
#include "races.hpp"

#include "edge_groups.hpp"
#include "needed_order.hpp"
#include "precedence.hpp"
#include "topological_order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cudag::detail {

namespace {

std::vector<std::uint32_t> order_of(std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    if (!are_forward(edges)) return topological_order(edges, EdgeGroups(nodes, edges, &EdgeRecord::from));
    std::vector<std::uint32_t> order(nodes);
    std::iota(order.begin(), order.end(), 0U);
    return order;
}

/// `edges` are those that order memory.
std::vector<Conflict> all_races(std::span<const MemoryAccess> accesses, std::size_t nodes,
                                const std::vector<EdgeRecord>& edges) {
    const std::vector<std::uint32_t> order = order_of(nodes, edges);
    std::vector<std::uint32_t> place(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i)
        place[order[i]] = i;
    NeededOrder needed(accesses, nodes);
    Precedence precedence(edges, order, place);
    std::vector<Conflict> races;
    std::vector<std::uint32_t> unordered;
    for (const std::uint32_t node : order) {
        const std::span<const Conflict> conflicts = needed.take(node);
        if (conflicts.empty()) continue;
        unordered.clear();
        for (const Conflict& conflict : conflicts)
            unordered.push_back(accesses[conflict.first].node);
        precedence.remove_ordered(node, unordered);
        if (unordered.empty()) continue;
        std::ranges::sort(unordered);
        for (const auto& [first, second] : conflicts)
            if (std::ranges::binary_search(unordered, accesses[first].node))
                races.push_back({std::min(first, second), std::max(first, second)});
    }
    return races;
}

} // namespace

std::vector<Conflict> find_races(std::span<const MemoryAccess> accesses, std::size_t nodes,
                                 const std::vector<EdgeRecord>& edges, std::size_t most) {
    const auto orders = [](const EdgeRecord& edge) { return orders_memory(edge.kind); };
    std::vector<Conflict> races;
    if (std::ranges::all_of(edges, orders)) {
        races = all_races(accesses, nodes, edges);
    } else {
        std::vector<EdgeRecord> ordering;
        std::ranges::copy_if(edges, std::back_inserter(ordering), orders);
        races = all_races(accesses, nodes, ordering);
    }
    std::ranges::sort(races, {}, [accesses](const Conflict& race) {
        return std::pair(accesses[race.second].node, accesses[race.first].node);
    });
    races.resize(std::min(races.size(), most));
    return races;
}

} // namespace cudag::detail
