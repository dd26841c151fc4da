// What a node does to memory, as a value.
#pragma once

#include <cudag/detail/memory_region.hpp>

#include <cstdint>
#include <optional>

namespace cudag::detail {

/// What tells of two accesses whether they may touch the same bytes in any order.
struct AccessOrder {
    AccessMode mode{};
    std::uint32_t unit = 0; ///< the region that declares it; 0: none. Writes of one unit commute
    friend constexpr bool operator==(const AccessOrder&, const AccessOrder&) = default;
};
[[nodiscard]] constexpr bool commute(const AccessOrder& a, const AccessOrder& b) noexcept {
    return a.mode == b.mode && (a.mode != AccessMode::write || (a.unit != 0 && a.unit == b.unit));
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

/// The captured region of a node, by its number, which is not 0.
struct RegionOfAccess {
    std::uint32_t unit = 0;    ///< not 0: the region as a whole declares the access
    std::uint32_t part_of = 0; ///< not 0: the access is the node's own, and the node is a part of the region
    friend bool operator==(const RegionOfAccess&, const RegionOfAccess&) = default;
};
/// Whether both accesses are of nodes of one region, which declares at least one of them: the region orders its nodes.
[[nodiscard]] constexpr bool are_inside_region(const RegionOfAccess& a, const RegionOfAccess& b) noexcept {
    return (a.unit != 0 && (a.unit == b.unit || a.unit == b.part_of)) || (b.unit != 0 && b.unit == a.part_of);
}

struct MemoryAccess {
    std::uint32_t node;
    AccessMode mode;
    MemoryRegion region;
    std::uint32_t unit = 0;    ///< see RegionOfAccess
    std::uint32_t part_of = 0; ///< see RegionOfAccess

    [[nodiscard]] AccessOrder order() const noexcept { return {mode, unit}; }
    [[nodiscard]] RegionOfAccess inside() const noexcept { return {unit, part_of}; }
    friend bool operator==(const MemoryAccess&, const MemoryAccess&) = default;
};

/// Whether two accesses would be a race if nothing ordered their nodes: they are of different nodes, have bytes in
/// common, do not commute, and no region orders them.
[[nodiscard]] bool conflicts(const MemoryAccess& a, const MemoryAccess& b) noexcept;

} // namespace cudag::detail
