// The copies that CUDA runs slowly in graphs, and their quick pieces.
#pragma once

#include <cudag/detail/operand.hpp>

#include <cstddef>
#include <vector>

namespace cudag::detail {

/// Whether one memcpy node for this copy takes up to 1.25 times as long as the copy in a stream: from 16 MiB on, unless
/// the bytes are at most 65535 equal rows of the fewest pages, of 4096 bytes each. Measured on an H100 with driver 580:
/// see docs/cuda-rules.md.
[[nodiscard]] bool is_slow_in_graphs(const CopyParams& copy) noexcept;

/// Cuts a slow copy into the longest quick part and a short rest; returns other copies whole.
[[nodiscard]] std::vector<CopyParams> pieces_of(const CopyParams& copy);

} // namespace cudag::detail
