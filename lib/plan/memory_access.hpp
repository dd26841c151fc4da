// What a node does to memory, as a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cudag::detail {

enum class AccessMode : std::uint8_t {
    read,
    write,    ///< may read, too
    atomic,   ///< commutes with other atomic ones
    disjoint, ///< touches other elements than other disjoint ones do
};

/// Whether accesses of these two modes may touch the same bytes in any order.
[[nodiscard]] constexpr bool commute(AccessMode a, AccessMode b) noexcept {
    return a == b && a != AccessMode::write;
}

/// `slices` times `rows` times `row_bytes` bytes: rows start `pitch` bytes apart, slices `slice_pitch` bytes apart. One
/// row of one slice is a plain range. Where slices reach into each other, all bytes from the first to the last count.
struct MemoryRegion {
    std::uintptr_t begin = 0;
    std::size_t row_bytes = 0;
    std::size_t rows = 1;
    std::size_t pitch = 0;
    std::size_t slices = 1;
    std::size_t slice_pitch = 0;

    [[nodiscard]] bool is_empty() const noexcept { return row_bytes == 0 || rows == 0 || slices == 0; }
    [[nodiscard]] bool is_range() const noexcept { return rows == 1 && slices == 1; }
    /// One past the last byte; `begin` if there is none.
    [[nodiscard]] std::uintptr_t end() const noexcept {
        return is_empty() ? begin : begin + (slices - 1) * slice_pitch + (rows - 1) * pitch + row_bytes;
    }
    friend bool operator==(const MemoryRegion&, const MemoryRegion&) = default;
};

/// The same bytes in as few rows as possible: rows without holes between them are one range. What is left has holes
/// after each row, and slices that do not reach into each other.
[[nodiscard]] MemoryRegion simplified_rows(const MemoryRegion& region) noexcept;
[[nodiscard]] inline MemoryRegion simplified(const MemoryRegion& region) noexcept {
    return region.is_range() ? MemoryRegion{region.begin, region.row_bytes} : simplified_rows(region);
}

/// From the first address to one past the last.
struct AddressRange {
    std::uintptr_t begin;
    std::uintptr_t end;
    friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

/// From the first byte that two regions have in common to the last one, or nothing. Exact: what falls into holes is not
/// in common. Takes time in proportion to the rows of the region with fewer rows, at worst; none for ranges.
[[nodiscard]] std::optional<AddressRange> common_bytes(const MemoryRegion& a, const MemoryRegion& b) noexcept;

struct MemoryAccess {
    std::uint32_t node;
    AccessMode mode;
    MemoryRegion region;
};

/// Whether two accesses would be a race if nothing ordered their nodes: they are of different nodes, have bytes in
/// common, and do not commute.
[[nodiscard]] bool conflicts(const MemoryAccess& a, const MemoryAccess& b) noexcept;

} // namespace cudag::detail
