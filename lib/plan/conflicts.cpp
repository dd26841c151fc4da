// Which accesses to memory must be ordered.
#include "conflicts.hpp"

#include "needed_order.hpp"

namespace cudag::detail {

std::vector<Conflict> needed_order(std::span<const MemoryAccess> accesses, std::span<const std::uint32_t> place) {
    std::vector<std::uint32_t> order(place.size());
    for (std::uint32_t node = 0; node < place.size(); ++node)
        order[place[node]] = node;
    NeededOrder needed(accesses, place.size());
    std::vector<Conflict> all;
    for (const std::uint32_t node : order) {
        const std::span<const Conflict> conflicts = needed.take(node);
        all.insert(all.end(), conflicts.begin(), conflicts.end());
    }
    return all;
}

} // namespace cudag::detail
