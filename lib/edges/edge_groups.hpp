// Edges by node, for walks through a graph.
#pragma once

#include "edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// Edges grouped by one of their ends, in order: the edges of node n are items[first[n]] to items[first[n + 1]].
struct EdgeGroups {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> items; ///< indices of edges

    EdgeGroups(std::size_t nodes, const std::vector<EdgeRecord>& edges, std::uint32_t EdgeRecord::*end)
        : first(nodes + 1), items(edges.size()) {
        for (const EdgeRecord& edge : edges)
            ++first[edge.*end + 1];
        for (std::size_t n = 0; n < nodes; ++n)
            first[n + 1] += first[n];
        std::vector<std::uint32_t> place(first.begin(), first.end() - 1);
        for (std::uint32_t i = 0; i < edges.size(); ++i)
            items[place[edges[i].*end]++] = i;
    }
};

} // namespace cudag::detail
