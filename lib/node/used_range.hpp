// The memory used by a node.
#pragma once

#include <cudag/detail/memory_block.hpp>

#include <cstddef>
#include <cstdint>

namespace cudag::detail {

/// The range from the first to the last byte that a node is known to read or write.
struct UsedRange {
    std::uintptr_t begin;
    std::size_t bytes; ///< 0 if only the first address is known
};

/// The range from the first byte of a block to its last one.
[[nodiscard]] inline UsedRange used_range_of(const MemoryBlock& block) noexcept {
    return {block.begin, block.end() - block.begin};
}

} // namespace cudag::detail
