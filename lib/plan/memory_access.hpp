// What a node does to memory, as a value.
#pragma once

#include <cudag/detail/memory_region.hpp>

#include <cstdint>
#include <optional>

namespace cudag::detail {

/// What tells of two accesses whether they may touch the same bytes in any order.
struct AccessOrder {
    AccessMode mode{};
    std::uint32_t unit = 0; ///< what has the same one is known to be in order, but for 0
    friend constexpr bool operator==(const AccessOrder&, const AccessOrder&) = default;
};
[[nodiscard]] constexpr bool commute(const AccessOrder& a, const AccessOrder& b) noexcept {
    return a == b && (a.mode != AccessMode::write || a.unit != 0);
}
[[nodiscard]] constexpr bool commute(AccessMode a, AccessMode b) noexcept {
    return commute(AccessOrder{a}, AccessOrder{b});
}

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
    std::uint32_t unit = 0; ///< writes of one unit, which others do not have, need no order among each other

    [[nodiscard]] AccessOrder order() const noexcept { return {mode, unit}; }
};

/// Whether two accesses would be a race if nothing ordered their nodes: they are of different nodes, have bytes in
/// common, and do not commute.
[[nodiscard]] bool conflicts(const MemoryAccess& a, const MemoryAccess& b) noexcept;

} // namespace cudag::detail
