// Why the nodes of two graphs cannot be paired.
#pragma once

#include "match_tree.hpp"
#include "matching/matching.hpp"

#include <cudag/diff.hpp>

#include <vector>

namespace cudag::detail {

/// Nodes with no partner, by their labels, kinds and numbers, or else edges; empty if no node shows it. `matching` is
/// of these trees, and found none.
[[nodiscard]] std::vector<Difference> describe_unpaired(const MatchTree& before, const MatchTree& after,
                                                        const Matching& matching);

} // namespace cudag::detail
