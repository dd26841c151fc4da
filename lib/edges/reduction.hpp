// Transitive reduction: edges implied by other edges.
#pragma once

#include "edge_record.hpp"

#include <cstddef>
#include <vector>

namespace cudag::detail {

/// Returns for each edge whether a path of two or more full edges implies it, so that it is not needed; empty if no
/// edge is implied. An edge other than full is never implied and implies no other, since its meaning differs. An edge
/// to a node of `keeps_all` counts as not implied; `keeps_all` is empty if there is no such node.
///
/// The edges are acyclic and unique. The result is exact. Takes nodes + edges, plus one sweep for each 512 sources of
/// possibly implied edges, over the nodes and edges between the first source and the last target: near-linear if edges
/// are short, at worst (nodes + remaining edges) * nodes / 512. Memory: at most 80 bytes for each node and 9 for each
/// edge.
[[nodiscard]] std::vector<bool> find_implied(std::size_t nodes, const std::vector<EdgeRecord>& edges,
                                             const std::vector<bool>& keeps_all = {});

/// The edges not implied by others, in order.
[[nodiscard]] std::vector<EdgeRecord> reduced(std::size_t nodes, std::vector<EdgeRecord> edges,
                                              const std::vector<bool>& keeps_all = {});

} // namespace cudag::detail
