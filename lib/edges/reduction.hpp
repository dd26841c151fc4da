// Transitive reduction: which edges other edges imply.
#pragma once

#include "edge_record.hpp"

#include <cstddef>
#include <vector>

namespace cudag::detail {

/// Whether each edge is implied by a path of two or more full edges, and need not be there; empty if none is. An edge
/// that is not full neither is implied nor implies another, for it says another thing. Those to nodes of `keeps_all`
/// count as not implied; it is empty if there is none.
///
/// The edges close no cycle, and none is there twice. Exact. Takes nodes + edges, and for each 512 nodes from which an
/// edge leads that may be implied the nodes and edges between the first of them and the last that such an edge leads
/// to: near-linear where edges are short, at worst (nodes + edges that remain) * nodes / 512. At most 80 bytes of
/// memory for each node, and 9 for each edge.
[[nodiscard]] std::vector<bool> find_implied(std::size_t nodes, const std::vector<EdgeRecord>& edges,
                                             const std::vector<bool>& keeps_all = {});

/// The edges that no others imply, in order.
[[nodiscard]] std::vector<EdgeRecord> reduced(std::size_t nodes, const std::vector<EdgeRecord>& edges,
                                              const std::vector<bool>& keeps_all = {});

} // namespace cudag::detail
