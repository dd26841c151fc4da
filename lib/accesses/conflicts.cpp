// Conflicts: memory accesses of nodes to be ordered.
#include "conflicts.hpp"

#include "needed_order.hpp"

namespace cudag::detail {

std::vector<Conflict> needed_order(const AccessList& accesses, std::span<const std::uint32_t> place) {
    std::vector<std::uint32_t> order(place.size());
    for (std::uint32_t node = 0; node < place.size(); ++node)
        order[place[node]] = node;
    NeededOrder needed(accesses, place.size());
    std::vector<Conflict> all;
    for (const std::uint32_t node : order)
        for (const NeededOrder::After& after : needed.take(node))
            needed.add_conflicts(after, all);
    return all;
}

} // namespace cudag::detail
