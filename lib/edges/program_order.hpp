// Program order: nodes by number as far as edges allow.
#pragma once

#include "edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// Returns the nodes by number; a node with a later-numbered predecessor follows as soon as all its predecessors have
/// come. The edges are acyclic. Takes (nodes + edges) * log(nodes), or nodes + edges if all edges lead forward.
[[nodiscard]] std::vector<std::uint32_t> program_order(std::size_t nodes, const std::vector<EdgeRecord>& edges);

} // namespace cudag::detail
