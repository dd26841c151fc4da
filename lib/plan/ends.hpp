// Where a graph begins and ends: many kernels at once, or one before and after them.
#pragma once

#include "joins.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// So many kernels begin or end a graph sooner if they come after an empty one, or before one: the launch call then
/// starts one instead of each. From `bench/joins --ends`.
inline constexpr std::size_t least_ends = 8;

/// Puts an empty kernel before the kernels that a graph begins with, and one after those that it ends with, where there
/// are `least_ends` of them. `is_kernel` says it of the nodes. At the end only if there is one at the begin, or the
/// graph begins with one node: it gains nothing without that.
void plan_ends(const std::vector<bool>& is_kernel, PlannedEdges& planned);

} // namespace cudag::detail
