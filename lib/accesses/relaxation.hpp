// Relaxation: the part of a graph's order that its memory accesses need.
#pragma once

#include "access_list.hpp"
#include "edges/edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// The captured region of a node.
struct RegionPart {
    std::uint32_t region = 0; ///< its number; 0: the node belongs to no region
    bool is_declared = false; ///< whether the region as a whole declares the node's accesses
};

/// The fewest edges that keep the order of `edges`, which are acyclic, between conflicting accesses and around staying
/// nodes. Nothing else is ordered, and no new order is added. Sorted by `to`, then by `from`.
/// - Staying nodes are those of `stays` and the ends of edges other than full. Such a node keeps all its predecessors
///   and all its successors.
/// - Edges other than full stay as they are, and order memory as orders_memory reports.
/// - Nodes with accesses declared by a region, and other nodes of it that use the same memory, keep their order among
///   each other.
///
/// `accesses` are by node in ascending order, and have no races; `parts` are by node, or empty. Takes as long as
/// find_races, plus `reduced` of the resulting edges: n * m if n commuting nodes precede m other commuting ones, and at
/// each staying node at most as many as there are other nodes.
[[nodiscard]] std::vector<EdgeRecord> relaxed_edges(const AccessList& accesses, std::size_t nodes,
                                                    const std::vector<EdgeRecord>& edges, std::vector<bool> stays,
                                                    const std::vector<RegionPart>& parts = {});

/// The number of nodes on the longest path.
[[nodiscard]] std::size_t longest_path(std::size_t nodes, const std::vector<EdgeRecord>& edges);

} // namespace cudag::detail
