// Which memory a node works on.
#pragma once

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

[[nodiscard]] inline Access access_of(const void* begin, std::size_t bytes, AccessKind kind) noexcept {
    return {reinterpret_cast<std::uintptr_t>(begin), bytes, kind};
}

} // namespace cudag::detail
