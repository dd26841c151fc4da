// Conflicts: memory accesses of nodes to be ordered.
#pragma once

#include "access_list.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Two conflicting accesses, by their places in a list.
struct Conflict {
    std::uint32_t first;
    std::uint32_t second;
    friend bool operator==(const Conflict&, const Conflict&) = default;
};

/// Finds a sufficient set of conflicts: if the nodes of each are ordered, the first before the second, then the
/// resulting paths order all conflicting accesses. `place` gives the position of each node in an order; `accesses` are
/// by node in ascending order. Reports at most one conflict for each two nodes, sorted by the second node in this
/// order. Accesses of one node never conflict.
///
/// Takes nodes + accesses + regions * log(regions) + cells of all accesses (see AccessCells) + conflicts. Conflicts are
/// few if memory has few readers, or one writer, between two accesses that must wait for all of them. If n commuting
/// nodes precede m other commuting nodes, all n * m conflicts are needed.
[[nodiscard]] std::vector<Conflict> needed_order(const AccessList& accesses, std::span<const std::uint32_t> place);

} // namespace cudag::detail
