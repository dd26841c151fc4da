// What handles of captured regions refer to.
#pragma once

#include <cudag/source_location.hpp>

#include <cstdint>
#include <span>

namespace cudag::detail {

/// What a CapturedNode refers to: nodes in a row, by the numbers of their handles. They are removed together.
struct RegionNodes {
    std::uint32_t first;
    std::uint32_t count;
    std::span<const std::uint32_t> roots;
    std::span<const std::uint32_t> tails;
    SourceLocation location;
};

/// What accesses know a region by: see RegionOfAccess.
[[nodiscard]] constexpr std::uint32_t unit_of(const RegionNodes& region) noexcept {
    return region.first + 1;
}

} // namespace cudag::detail
