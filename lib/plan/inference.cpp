// The edges that nodes need because of what they do to memory, in the order in which they were added.
#include "inference.hpp"

#include "edge_groups.hpp"
#include "needed_order.hpp"

#include <algorithm>
#include <limits>

namespace cudag::detail {

std::vector<EdgeRecord> inferred_edges(std::span<const MemoryAccess> accesses, std::size_t nodes,
                                       const std::vector<EdgeRecord>& edges) {
    NeededOrder needed(accesses, nodes);
    const EdgeGroups incoming(nodes, edges, &EdgeRecord::to);
    std::vector<std::uint32_t> leads_to(nodes, std::numeric_limits<std::uint32_t>::max());
    std::vector<EdgeRecord> inferred;
    std::vector<Conflict> conflicts; // of one node
    std::vector<std::uint32_t> sources;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        conflicts.clear();
        for (const NeededOrder::After& after : needed.take(node))
            needed.add_conflicts(after, conflicts);
        if (conflicts.empty()) continue;
        for (std::uint32_t i = incoming.first[node]; i < incoming.first[node + 1]; ++i)
            leads_to[edges[incoming.items[i]].from] = node;
        sources.clear();
        for (const Conflict& conflict : conflicts) {
            const std::uint32_t from = accesses[conflict.first].node;
            if (leads_to[from] != node) sources.push_back(from);
        }
        std::ranges::sort(sources);
        for (const std::uint32_t from : sources)
            inferred.push_back({from, node});
    }
    return inferred;
}

} // namespace cudag::detail
