// Memory blocks and accesses to them, as values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudag::detail {

/// The access of a node to memory.
enum class AccessMode : std::uint8_t {
    read,
    write,    ///< may also read
    atomic,   ///< commutes with other atomic accesses
    disjoint, ///< touches other elements than the other disjoint accesses
};

/// A block of `slices` times `rows` times `row_bytes` bytes. Rows start `pitch` bytes apart, slices `slice_pitch`
/// bytes apart. One row of one slice is a plain range. If slices reach into each other, all bytes from the first to the
/// last count.
struct MemoryBlock {
    std::uintptr_t begin = 0;
    std::size_t row_bytes = 0;
    std::size_t rows = 1;
    std::size_t pitch = 0;
    std::size_t slices = 1;
    std::size_t slice_pitch = 0;

    [[nodiscard]] constexpr bool is_empty() const noexcept { return row_bytes == 0 || rows == 0 || slices == 0; }
    [[nodiscard]] constexpr bool is_range() const noexcept { return rows == 1 && slices == 1; }
    /// The address after the last byte; `begin` for an empty block.
    [[nodiscard]] constexpr std::uintptr_t end() const noexcept {
        return is_empty() ? begin : begin + (slices - 1) * slice_pitch + (rows - 1) * pitch + row_bytes;
    }
    friend bool operator==(const MemoryBlock&, const MemoryBlock&) = default;
};

/// The access of a node to memory through one of its arguments.
struct ArgumentAccess {
    std::uint32_t argument; ///< see MemoryArgument
    AccessMode mode;
    std::size_t element_bytes;
    MemoryBlock block;
    std::uint32_t unit = 0;        ///< the captured region that declares this as a whole, see MemoryAccess; 0: none
    std::uintptr_t moved_from = 0; ///< after Exec::bind: the graph's address of memory declared by a whole node; or 0
    friend bool operator==(const ArgumentAccess&, const ArgumentAccess&) = default;
};

/// Returns a plain range of `bytes` bytes.
[[nodiscard]] inline MemoryBlock block_at(const volatile void* begin, std::size_t bytes) noexcept {
    return {reinterpret_cast<std::uintptr_t>(begin), bytes};
}

} // namespace cudag::detail
