// Which memory a node works on.
#pragma once

#include <cudag/detail/memory_region.hpp>

#include <cstddef>
#include <cstdint>

namespace cudag::detail {

/// The bytes from the first to the last that a node is known to touch, to read or to write them.
struct Access {
    std::uintptr_t begin;
    std::size_t bytes; ///< 0 if only the first address is known
};

/// From the first byte of a region to its last one.
[[nodiscard]] inline Access access_of(const MemoryRegion& region) noexcept {
    return {region.begin, region.end() - region.begin};
}

} // namespace cudag::detail
