// Operations shared by lists of edges.
#pragma once

#include "edge_record.hpp"
#include "lists/growth.hpp"
#include "lists/renumbering.hpp"

#include <cstdint>
#include <vector>

namespace cudag::detail {

/// Removes the edges of nodes from `first` on.
inline void forget_nodes(std::vector<EdgeRecord>& list, std::uint32_t first) {
    std::erase_if(list, [first](const EdgeRecord& edge) { return edge.from >= first || edge.to >= first; });
}

/// Removes the edges of removed nodes and renumbers the others.
inline void renumber(std::vector<EdgeRecord>& list, const Renumbering& next) noexcept {
    std::erase_if(list, [&](const EdgeRecord& edge) { return !next.keeps(edge.from) || !next.keeps(edge.to); });
    for (EdgeRecord& edge : list)
        edge = {next(edge.from), next(edge.to), edge.kind};
}

} // namespace cudag::detail
