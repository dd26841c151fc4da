// The device memory that several segments use.
#pragma once

#include <cudag/graph.hpp>
#include <cudag/segment_report.hpp>

#include <span>
#include <vector>

namespace cudag::detail {

/// Finds the allocations used by more than one of `graphs`, by address, with the first and the last graph, without
/// breaks. Every possible address in the parameters of nodes counts. Reads captured graphs.
[[nodiscard]] std::vector<CrossingBuffer> crossing_buffers(std::span<const Graph> graphs);

} // namespace cudag::detail
