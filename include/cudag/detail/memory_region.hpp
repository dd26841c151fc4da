// Regions of memory as values, and what is done to them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudag::detail {

/// `write` may read, too. Atomic accesses commute with atomic ones; disjoint ones touch other elements than the
/// disjoint ones of other nodes.
enum class AccessMode : std::uint8_t { read, write, atomic, disjoint };

/// `slices` times `rows` rows of `row_bytes` bytes, which begin `pitch` bytes apart, those of slices `slice_pitch`. One
/// row: a plain range.
struct MemoryRegion {
    std::uintptr_t begin = 0;
    std::size_t row_bytes = 0;
    std::size_t rows = 1;
    std::size_t pitch = 0;
    std::size_t slices = 1;
    std::size_t slice_pitch = 0;

    [[nodiscard]] constexpr bool empty() const noexcept { return row_bytes == 0 || rows == 0 || slices == 0; }
    /// One past the last byte; of an empty region its begin.
    [[nodiscard]] constexpr std::uintptr_t end() const noexcept {
        return empty() ? begin : begin + (slices - 1) * slice_pitch + (rows - 1) * pitch + row_bytes;
    }
    friend bool operator==(const MemoryRegion&, const MemoryRegion&) = default;
};

[[nodiscard]] inline MemoryRegion region_at(const volatile void* begin, std::size_t bytes) noexcept {
    return {reinterpret_cast<std::uintptr_t>(begin), bytes};
}

} // namespace cudag::detail
