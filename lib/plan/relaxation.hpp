// The order that a graph needs because of what its nodes do to memory, of the order that it has.
#pragma once

#include "access_list.hpp"
#include "edge_record.hpp"

#include <cstddef>
#include <vector>

namespace cudag::detail {

/// The fewest edges that keep what `edges`, which close no cycle, say of accesses that conflict, and of nodes that
/// stay: those of `stays`, and those that an edge leads to or from that is not full. Such a node comes after all nodes
/// that it came after, and before all that it came before; edges that are not full stay as they are, and order as
/// orders_memory says. Nothing else is ordered, and nothing that was not before. By `to`, then by `from`.
///
/// `accesses` are by node in ascending order, and have no races. Takes what find_races takes, and what `reduced` takes
/// for the edges that come of it: where n nodes that commute come before m others that commute, those are n * m, and at
/// nodes that stay at most as many as there are others.
[[nodiscard]] std::vector<EdgeRecord> relaxed_edges(const AccessList& accesses, std::size_t nodes,
                                                    const std::vector<EdgeRecord>& edges, std::vector<bool> stays);

/// How many nodes the longest path has.
[[nodiscard]] std::size_t longest_path(std::size_t nodes, const std::vector<EdgeRecord>& edges);

} // namespace cudag::detail
