// A quick look at edges: whether there is anything to plan.
#include "outline.hpp"

#include <algorithm>

namespace cudag::detail {

Outline outline_of(std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    const auto no_line = [](const EdgeRecord& a, const EdgeRecord& b) { return a.to >= b.to || a.from >= b.from; };
    if (std::adjacent_find(edges.begin(), edges.end(), no_line) == edges.end())
        return {false, nodes - edges.size(), nodes - edges.size()};
    std::vector<bool> has_before(nodes), has_after(nodes);
    Outline outline{false, nodes, nodes};
    for (const EdgeRecord& edge : edges) {
        outline.has_fan_in = outline.has_fan_in || has_before[edge.to];
        outline.first_nodes -= has_before[edge.to] ? 0 : 1;
        outline.last_nodes -= has_after[edge.from] ? 0 : 1;
        has_before[edge.to] = has_after[edge.from] = true;
    }
    return outline;
}

} // namespace cudag::detail
