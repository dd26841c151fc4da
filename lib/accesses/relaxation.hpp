// The order that a graph needs because of what its nodes do to memory, of the order that it has.
#pragma once

#include "access_list.hpp"
#include "edges/edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// The captured region of a node.
struct RegionPart {
    std::uint32_t region = 0; ///< its number; 0: the node is a part of none
    bool is_declared = false; ///< whether the region as a whole declares what the node does
};

/// The fewest edges that keep what `edges`, which close no cycle, say of accesses that conflict, and of nodes that
/// stay: those of `stays`, and those that an edge leads to or from that is not full. Such a node comes after all nodes
/// that it came after, and before all that it came before; edges that are not full stay as they are, and order as
/// orders_memory says. The nodes that a region declares, and others of it that use the same memory, keep their order
/// among each other. Nothing else is ordered, and nothing that was not before. By `to`, then by `from`.
///
/// `accesses` are by node in ascending order, and have no races; `parts` are by node, or none. Takes what find_races
/// takes, and what `reduced` takes for the edges that come of it: where n nodes that commute come before m others that
/// commute, those are n * m, and at nodes that stay at most as many as there are others.
[[nodiscard]] std::vector<EdgeRecord> relaxed_edges(const AccessList& accesses, std::size_t nodes,
                                                    const std::vector<EdgeRecord>& edges, std::vector<bool> stays,
                                                    const std::vector<RegionPart>& parts = {});

/// How many nodes the longest path has.
[[nodiscard]] std::size_t longest_path(std::size_t nodes, const std::vector<EdgeRecord>& edges);

} // namespace cudag::detail
