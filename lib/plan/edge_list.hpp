// What lists of edges share.
#pragma once

#include "edge_record.hpp"
#include "lists/growth.hpp"

#include <cstdint>
#include <vector>

namespace cudag::detail {

/// Removes the edges of nodes from `first` on.
inline void forget_nodes(std::vector<EdgeRecord>& list, std::uint32_t first) {
    std::erase_if(list, [first](const EdgeRecord& edge) { return edge.from >= first || edge.to >= first; });
}

} // namespace cudag::detail
