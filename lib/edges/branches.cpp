// The branches of a graph, counted in a topological order.
#include "branches.hpp"

#include "edge_groups.hpp"
#include "topological_order.hpp"

#include <cstdint>
#include <numeric>

namespace cudag::detail {

std::size_t count_branches(std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    std::vector<std::uint32_t> order(nodes);
    if (are_forward(edges))
        std::iota(order.begin(), order.end(), 0U);
    else
        order = topological_order(edges, EdgeGroups(nodes, edges, &EdgeRecord::from));
    const EdgeGroups incoming(nodes, edges, &EdgeRecord::to);
    std::vector<bool> is_continued(nodes);
    std::size_t branches = 0;
    for (const std::uint32_t node : order) {
        bool continues = false;
        for (std::uint32_t i = incoming.first[node]; i < incoming.first[node + 1] && !continues; ++i) {
            const std::uint32_t from = edges[incoming.items[i]].from;
            continues = !is_continued[from];
            is_continued[from] = true;
        }
        branches += continues ? 0 : 1;
    }
    return branches;
}

} // namespace cudag::detail
