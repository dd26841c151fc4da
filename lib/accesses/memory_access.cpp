// A node's access to memory, as a value.
#include "memory_access.hpp"

#include "lists/assertion.hpp"

#include <algorithm>

namespace cudag::detail {

namespace {

struct Row {
    std::uintptr_t slice; ///< the beginning of its slice
    std::uintptr_t begin;
};

/// The last row of a simplified block that begins at or before `address`. Requires an `address` not before the first
/// row.
Row row_at(const MemoryBlock& block, std::uintptr_t address) {
    CUDAG_ASSERT(address >= block.begin);
    std::uintptr_t slice = block.begin;
    if (block.slices > 1)
        slice += std::min(block.slices - 1, (address - slice) / block.slice_pitch) * block.slice_pitch;
    if (block.rows == 1) return {slice, slice};
    return {slice, slice + std::min(block.rows - 1, (address - slice) / block.pitch) * block.pitch};
}

/// The first byte of a simplified block at or after `address`. Requires an `address` before its end.
std::uintptr_t first_from(const MemoryBlock& block, std::uintptr_t address) {
    CUDAG_ASSERT(address < block.end());
    if (address <= block.begin) return block.begin;
    const Row row = row_at(block, address);
    if (address < row.begin + block.row_bytes) return address;
    const bool is_last = row.begin == row.slice + (block.rows - 1) * block.pitch;
    return is_last ? row.slice + block.slice_pitch : row.begin + block.pitch;
}

/// One past the last byte of a simplified block before `address`. Requires an `address` after its beginning.
std::uintptr_t last_before(const MemoryBlock& block, std::uintptr_t address) {
    CUDAG_ASSERT(address > block.begin);
    return std::min(address, row_at(block, address - 1).begin + block.row_bytes);
}

} // namespace

MemoryBlock simplified_rows(const MemoryBlock& block) noexcept {
    const auto& [begin, row_bytes, rows, pitch, slices, slice_pitch] = block;
    if (block.is_empty()) return {begin, 0};
    if (rows == 1 || pitch <= row_bytes) { // a slice is a range
        const std::size_t bytes = (rows - 1) * pitch + row_bytes;
        if (slices == 1 || slice_pitch <= bytes) return {begin, block.end() - begin};
        return {begin, bytes, slices, slice_pitch};
    }
    if (slices == 1) return {begin, row_bytes, rows, pitch};
    if (slice_pitch < (rows - 1) * pitch + row_bytes) return {begin, block.end() - begin};
    if (slice_pitch == rows * pitch) return {begin, row_bytes, rows * slices, pitch};
    return block;
}

std::optional<AddressRange> common_bytes(const MemoryBlock& a, const MemoryBlock& b) noexcept {
    const MemoryBlock one = simplified(a);
    const MemoryBlock other = simplified(b);
    const AddressRange hull{std::max(one.begin, other.begin), std::min(one.end(), other.end())};
    if (hull.begin >= hull.end || one.is_empty() || other.is_empty()) return std::nullopt;
    if (one.is_range() && other.is_range()) return hull;

    // From below, then from above, from row to row.
    std::uintptr_t first = hull.begin;
    while (first < hull.end) {
        const std::uintptr_t in_one = first_from(one, first);
        if (in_one >= hull.end) return std::nullopt;
        first = first_from(other, in_one);
        if (first == in_one) break;
    }
    if (first >= hull.end) return std::nullopt;
    std::uintptr_t last = hull.end;
    while (true) {
        const std::uintptr_t in_one = last_before(one, last);
        last = last_before(other, in_one);
        if (last == in_one) return AddressRange{first, last};
    }
}

bool conflicts(const MemoryAccess& a, const MemoryAccess& b) noexcept {
    return a.node != b.node && !commute(a.order(), b.order()) && !are_inside_region(a, b) &&
           common_bytes(a.block, b.block).has_value();
}

} // namespace cudag::detail
