// The ends of a graph: many kernels at once, or one kernel before and after them.
#pragma once

#include "joins.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// The least number of kernels at an end of a graph for which an empty kernel before or after them saves time: the
/// launch call then starts one kernel instead of each. From `bench/joins --ends`.
inline constexpr std::size_t min_kernels_at_end = 8;

/// Puts an empty kernel before the first kernels of a graph, and one after the last, if there are `min_kernels_at_end`
/// of them. An end kernel is added only if the graph begins with an empty kernel or with one node: without that it
/// gains nothing.
void plan_ends(const std::vector<bool>& is_kernel, PlannedEdges& planned);

} // namespace cudag::detail
