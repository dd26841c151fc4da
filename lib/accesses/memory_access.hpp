// A node's access to memory, as a value.
#pragma once

#include <cudag/detail/memory_block.hpp>

#include <cstdint>
#include <optional>

namespace cudag::detail {

/// The properties that decide whether two accesses may touch the same bytes in any order.
struct AccessOrder {
    AccessMode mode{};
    std::uint32_t unit = 0; ///< the declaring region; 0: none. Writes of one unit commute
    friend constexpr bool operator==(const AccessOrder&, const AccessOrder&) = default;
};
[[nodiscard]] constexpr bool commute(const AccessOrder& a, const AccessOrder& b) noexcept {
    return a.mode == b.mode && (a.mode != AccessMode::write || (a.unit != 0 && a.unit == b.unit));
}
[[nodiscard]] constexpr bool commute(AccessMode a, AccessMode b) noexcept {
    return commute(AccessOrder{a}, AccessOrder{b});
}

/// The same bytes in as few rows as possible: rows without holes between them become one range. The result has holes
/// after each row, and slices that do not overlap.
[[nodiscard]] MemoryBlock simplified_rows(const MemoryBlock& block) noexcept;
[[nodiscard]] inline MemoryBlock simplified(const MemoryBlock& block) noexcept {
    return block.is_range() ? MemoryBlock{block.begin, block.row_bytes} : simplified_rows(block);
}

/// A range of addresses; `end` is exclusive.
struct AddressRange {
    std::uintptr_t begin;
    std::uintptr_t end;
    friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

/// The range from the first to the last byte common to two blocks, or nothing. Exact: bytes in holes are not common.
/// Takes at worst time in proportion to the rows of the block with fewer rows; constant time for ranges.
[[nodiscard]] std::optional<AddressRange> common_bytes(const MemoryBlock& a, const MemoryBlock& b) noexcept;

/// Captured regions have numbers, never 0.
struct MemoryAccess {
    std::uint32_t node;
    AccessMode mode;
    MemoryBlock block;
    std::uint32_t unit = 0;    ///< not 0: this captured region as a whole declares the access
    std::uint32_t part_of = 0; ///< not 0: the access is the node's own, and the node is a part of this captured region

    [[nodiscard]] AccessOrder order() const noexcept { return {mode, unit}; }
    friend bool operator==(const MemoryAccess&, const MemoryAccess&) = default;
};

/// Whether both accesses are of nodes of one captured region, and the region declares at least one of them: the region
/// orders its nodes.
[[nodiscard]] constexpr bool are_inside_region(const MemoryAccess& a, const MemoryAccess& b) noexcept {
    return (a.unit != 0 && (a.unit == b.unit || a.unit == b.part_of)) || (b.unit != 0 && b.unit == a.part_of);
}

/// Whether two accesses of unordered nodes are a race: their nodes differ, they have bytes in common, they do not
/// commute, and no region orders them.
[[nodiscard]] bool conflicts(const MemoryAccess& a, const MemoryAccess& b) noexcept;

} // namespace cudag::detail
