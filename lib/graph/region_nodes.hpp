// The nodes of a captured region.
#pragma once

#include <cudag/source_location.hpp>

#include <cstdint>
#include <span>

namespace cudag::detail {

/// The nodes of a region, target of a CapturedNode: consecutive numbers of handles. They are removed together.
struct RegionNodes {
    std::uint32_t first;
    std::uint32_t count;
    std::span<const std::uint32_t> roots;
    std::span<const std::uint32_t> tails;
    SourceLocation location;
};

/// Returns the number of a region in records of accesses: see MemoryAccess.
[[nodiscard]] constexpr std::uint32_t unit_of(const RegionNodes& region) noexcept {
    return region.first + 1;
}

} // namespace cudag::detail
