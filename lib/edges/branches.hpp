// Branches: the lines of nodes into which CUDA divides a graph.
#pragma once

#include "edge_record.hpp"

#include <cstddef>
#include <vector>

namespace cudag::detail {

/// The number of branches of a graph: each node continues the branch of one of its predecessors, unless other nodes
/// continue them all; then it begins one. The edges are acyclic.
[[nodiscard]] std::size_t count_branches(std::size_t nodes, const std::vector<EdgeRecord>& edges);

} // namespace cudag::detail
