// Reasons why the nodes of two graphs cannot be paired.
#pragma once

#include "match_tree.hpp"
#include "matching/matching.hpp"

#include <cudag/diff.hpp>

#include <vector>

namespace cudag::detail {

/// Describes nodes without a partner, by their labels, kinds and numbers, or else edges; empty if no node shows a
/// reason. `matching` must be of these trees, and have found no pairing.
[[nodiscard]] std::vector<Difference> describe_unpaired(const MatchTree& before, const MatchTree& after,
                                                        const Matching& matching);

} // namespace cudag::detail
