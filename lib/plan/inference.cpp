// The edges that nodes need because of what they do to memory, in the order in which they were added.
#include "inference.hpp"

#include "edge_groups.hpp"
#include "needed_order.hpp"

#include <algorithm>
#include <span>

namespace cudag::detail {

std::vector<EdgeRecord> inferred_edges(const AccessList& accesses, std::size_t nodes,
                                       const std::vector<EdgeRecord>& edges) {
    NeededOrder needed(accesses, nodes);
    const EdgeGroups incoming(nodes, edges, &EdgeRecord::to);
    std::vector<EdgeRecord> inferred;
    std::vector<Conflict> conflicts; // of one node
    std::vector<std::uint32_t> sources;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        const std::span<const NeededOrder::After> afters = needed.take(node);
        for (std::uint32_t i = incoming.first[node]; i < incoming.first[node + 1]; ++i)
            needed.leave_out(edges[incoming.items[i]].from);
        conflicts.clear();
        for (const NeededOrder::After& after : afters)
            needed.add_conflicts(after, conflicts);
        sources.clear();
        for (const Conflict& conflict : conflicts)
            sources.push_back(accesses[conflict.first].node);
        std::ranges::sort(sources);
        for (const std::uint32_t from : sources)
            inferred.push_back({from, node});
    }
    return inferred;
}

} // namespace cudag::detail
