// A quick look at edges: whether there is anything to plan.
#pragma once

#include "edge_record.hpp"

#include <cstddef>
#include <vector>

namespace cudag::detail {

struct Outline {
    bool has_fan_in;         ///< a node has two incoming edges; otherwise no edge is implied and there is no block
    std::size_t first_nodes; ///< number of nodes without incoming edges
    std::size_t last_nodes;  ///< number of nodes without outgoing edges
};

/// Computes the outline; quick for a graph written as a line.
[[nodiscard]] Outline outline_of(std::size_t nodes, const std::vector<EdgeRecord>& edges);

} // namespace cudag::detail
