// The edges that nodes need because of what they do to memory, in the order in which they were added.
#pragma once

#include "edge_record.hpp"
#include "memory_access.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// The full edges that a program needs so that nodes with higher numbers see what those with lower numbers did: from
/// the last writer of what a node reads; to one that writes, from all that read since, or from the last writer if there
/// is none; and likewise where accesses of another mode than before come. By `to`, then by `from`, each once; none
/// between nodes that have an edge in `edges` already, of whatever kind: find_races tells where that does not suffice.
/// Edges that others imply are among them. Nodes of one unit, which is a number by node, need none; if empty, each is
/// its own.
///
/// `accesses` are by node in ascending order. Takes what needed_order takes, and edges.
[[nodiscard]] std::vector<EdgeRecord> inferred_edges(std::span<const MemoryAccess> accesses, std::size_t nodes,
                                                     const std::vector<EdgeRecord>& edges,
                                                     std::span<const std::uint32_t> units = {});

} // namespace cudag::detail
