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

/// The number of first kernels that surely run at once: GPUs of compute capability 9.0 run 128. From `bench/drawn`.
inline constexpr std::size_t max_first_kernels_at_once = 120;

/// The least number of kernels in a line whose launch call is clearly shorter with an edge from the first one to the
/// last. On an H100 with a driver for CUDA 13.0: 0.85 times for 300 kernels, 0.67 times for 1000, less for more.
inline constexpr std::size_t min_kernels_in_long_line = 256;

/// Puts an empty kernel before the first kernels of a graph, and one after the last, if there are `min_kernels_at_end`
/// of them. An end kernel is added only if the graph begins with an empty kernel or with one node: without that it
/// gains nothing. The first kernels stay as they are if more than run at once would become ready together, and many of
/// them precede little: these could take the places of others, on which the end of the graph depends.
void plan_ends(const std::vector<bool>& is_kernel, PlannedEdges& planned);

/// Adds an edge from the first kernel to the last if the graph is a line of `min_kernels_in_long_line` kernels, in
/// which each comes after the end of the previous one.
void plan_long_line(const std::vector<bool>& is_kernel, PlannedEdges& planned);

} // namespace cudag::detail
