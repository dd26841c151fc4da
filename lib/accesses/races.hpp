// Accesses to memory that nothing orders and that must be ordered.
#pragma once

#include "access_list.hpp"
#include "conflicts.hpp"
#include "edges/edge_record.hpp"

#include <cstddef>
#include <vector>

namespace cudag::detail {

/// Accesses that conflict, of nodes that no path of `edges` orders: none if and only if there is no race. Not all of
/// them: where nodes race, what comes after one of them may count as coming after both. At most one for each two nodes,
/// and at most `most`: the earliest, by the node with the higher number, then by the one with the lower number, whose
/// access comes first. `accesses` are by node in ascending order; `edges` close no cycle.
///
/// Takes nodes + edges + accesses + regions * log(regions) + cells of all accesses (see AccessCells; accesses one after
/// another to one region count its cells once), and for each conflict of needed_order that no edge orders what
/// Precedence takes: constant time where a path follows a line, or branches that fork and join, and a few edges where
/// it is short. Where many nodes come after the same many by way of one node, each takes constant time, not one for
/// each conflict.
[[nodiscard]] std::vector<Conflict> find_races(const AccessList& accesses, std::size_t nodes,
                                               const std::vector<EdgeRecord>& edges, std::size_t most);

} // namespace cudag::detail
