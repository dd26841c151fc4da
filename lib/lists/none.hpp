// The index for "no element".
#pragma once

#include <cstdint>
#include <limits>

namespace cudag::detail {

inline constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

} // namespace cudag::detail
