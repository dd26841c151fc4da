// The device memory that several segments use.
#pragma once

#include <cudag/graph.hpp>
#include <cudag/segment_report.hpp>

#include <span>
#include <string>
#include <vector>

namespace cudag::detail {

/// Finds the allocations used by more than one of `graphs`, by address, with the first and the last graph, without
/// breaks. Every possible address in the parameters of nodes counts. Reads captured graphs.
[[nodiscard]] std::vector<CrossingBuffer> crossing_buffers(std::span<const Graph> graphs);

/// Describes a buffer: "4096 bytes at 0x7f2c4a000000: segments 0 to 1, across \"look\"".
[[nodiscard]] std::string text_of(const CrossingBuffer& buffer);

} // namespace cudag::detail
