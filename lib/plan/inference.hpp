// The edges that nodes need because of what they do to memory, in the order in which they were added.
#pragma once

#include "access_list.hpp"
#include "edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// The full edges that a program needs so that nodes with higher numbers see what those with lower numbers did: to what
/// reads, from the last writer; to what writes, from all that read since the last writer, or from that if none did; and
/// likewise between accesses that commute and others. By `to`, then by `from`, each once, also those that others imply.
/// None between nodes that have an edge in `edges` already, of whatever kind.
///
/// With these edges there are no races, except of nodes that `edges` order by launch completion only: only where there
/// are such edges, find_races has something to find.
///
/// `accesses` are by node in ascending order. Takes what needed_order takes, and edges.
[[nodiscard]] std::vector<EdgeRecord> inferred_edges(const AccessList& accesses, std::size_t nodes,
                                                     const std::vector<EdgeRecord>& edges);

} // namespace cudag::detail
