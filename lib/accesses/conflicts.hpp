// Which accesses to memory must be ordered.
#pragma once

#include "access_list.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Two accesses, by their places in a list, that conflict.
struct Conflict {
    std::uint32_t first;
    std::uint32_t second;
    friend bool operator==(const Conflict&, const Conflict&) = default;
};

/// The conflicts that suffice: if the nodes of all these are ordered, the first before the second, then paths of these
/// order all accesses that conflict. `place` says for each node where it stands in an order, `accesses` are by node in
/// ascending order. One conflict for each two nodes at most, by the second node in this order. Accesses of one node
/// never conflict with each other.
///
/// Takes nodes + accesses + regions * log(regions) + cells of all accesses (see AccessCells) + conflicts. Those are few
/// where memory has few readers or one writer between two that must wait for all of them; where n nodes that commute
/// come before m others that commute, there are n * m, since all of these are needed.
[[nodiscard]] std::vector<Conflict> needed_order(const AccessList& accesses, std::span<const std::uint32_t> place);

} // namespace cudag::detail
