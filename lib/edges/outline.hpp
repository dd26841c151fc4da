// What can be seen of edges at a glance: whether there is anything to plan.
#pragma once

#include "edge_record.hpp"

#include <cstddef>
#include <vector>

namespace cudag::detail {

struct Outline {
    bool has_meeting;        ///< two edges lead to one node: else none is implied by others, and there is no block
    std::size_t first_nodes; ///< to which no edge leads
    std::size_t last_nodes;  ///< from which no edge leads
};

/// Quick where a graph is written as a line.
[[nodiscard]] Outline outline_of(std::size_t nodes, const std::vector<EdgeRecord>& edges);

} // namespace cudag::detail
