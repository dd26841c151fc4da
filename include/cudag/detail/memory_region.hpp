// Regions of memory as values, and what is done to them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudag::detail {

enum class AccessMode : std::uint8_t {
    read,
    write,    ///< may read, too
    atomic,   ///< commutes with other atomic ones
    disjoint, ///< touches other elements than other disjoint ones do
};

/// `slices` times `rows` times `row_bytes` bytes: rows start `pitch` bytes apart, slices `slice_pitch` bytes apart. One
/// row of one slice is a plain range. Where slices reach into each other, all bytes from the first to the last count.
struct MemoryRegion {
    std::uintptr_t begin = 0;
    std::size_t row_bytes = 0;
    std::size_t rows = 1;
    std::size_t pitch = 0;
    std::size_t slices = 1;
    std::size_t slice_pitch = 0;

    [[nodiscard]] constexpr bool is_empty() const noexcept { return row_bytes == 0 || rows == 0 || slices == 0; }
    [[nodiscard]] constexpr bool is_range() const noexcept { return rows == 1 && slices == 1; }
    /// One past the last byte; `begin` if there is none.
    [[nodiscard]] constexpr std::uintptr_t end() const noexcept {
        return is_empty() ? begin : begin + (slices - 1) * slice_pitch + (rows - 1) * pitch + row_bytes;
    }
    friend bool operator==(const MemoryRegion&, const MemoryRegion&) = default;
};

[[nodiscard]] inline MemoryRegion region_at(const volatile void* begin, std::size_t bytes) noexcept {
    return {reinterpret_cast<std::uintptr_t>(begin), bytes};
}

} // namespace cudag::detail
