// Races: conflicting accesses of unordered nodes.
#pragma once

#include "access_list.hpp"
#include "conflicts.hpp"
#include "edges/edge_record.hpp"

#include <cstddef>
#include <vector>

namespace cudag::detail {

/// Finds conflicting accesses of nodes without a path of `edges` between them. Empty if and only if there is no race.
/// Not exhaustive: a node after one of two racing nodes may count as being after both. Reports at most one conflict for
/// each two nodes, and at most `most`: the earliest by the node with the higher number, then by the lower one, whose
/// access is `first`. `accesses` are by node in ascending order; `edges` are acyclic.
///
/// Takes nodes + edges + accesses + regions * log(regions) + cells of all accesses (see AccessCells; successive
/// accesses to one region count its cells once), plus one query of Precedence for each conflict of needed_order without
/// an edge: constant time if a path follows a line, or branches that fork and join, and a few edges for a short path.
/// If many nodes depend on the same many through one node, each takes constant time, not one query for each conflict.
[[nodiscard]] std::vector<Conflict> find_races(const AccessList& accesses, std::size_t nodes,
                                               const std::vector<EdgeRecord>& edges, std::size_t most);

} // namespace cudag::detail
