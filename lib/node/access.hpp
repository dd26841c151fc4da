// Which memory a node works on.
#pragma once

#include <cudag/detail/memory_region.hpp>

#include <cstddef>
#include <cstdint>

namespace cudag::detail {

enum class AccessKind : std::uint8_t { read, write, read_or_write };

/// The bytes from the first to the last that a node is known to touch.
struct Access {
    std::uintptr_t begin;
    std::size_t bytes; ///< 0 if only the first address is known
    AccessKind kind;
};

/// From the first byte of a region to its last one.
[[nodiscard]] inline Access access_of(const MemoryRegion& region, AccessMode mode) noexcept {
    return {region.begin, region.end() - region.begin, mode == AccessMode::read ? AccessKind::read : AccessKind::write};
}

} // namespace cudag::detail
