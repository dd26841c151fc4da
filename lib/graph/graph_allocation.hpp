// Graph memory as a graph knows it: what its nodes allocate and free.
#pragma once

#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cudag::detail {

/// Memory that nodes of one graph allocate, free, or both. Two may have the same address if CUDA reuses the first's.
struct GraphAllocation {
    std::uintptr_t address;
    std::size_t bytes;
    std::optional<std::uint32_t> alloc = std::nullopt; ///< the node; none if another graph allocates it
    std::optional<std::uint32_t> free = std::nullopt;  ///< the node; none if this graph does not free it
    Node freed_elsewhere = {};                         ///< a free node of another graph, or an empty handle

    [[nodiscard]] bool contains(std::uintptr_t place) const noexcept { return place - address < bytes; }
    [[nodiscard]] bool overlaps(std::uintptr_t begin, std::size_t size) const noexcept {
        return begin < address + bytes && address < begin + size;
    }
};

class GraphState;

/// Throws GraphError if `address`, the `role` of a new node, is in memory that a node of `graph` frees: CUDA gives no
/// such memory to copies and fills that are made later, wherever their edges put them.
void require_unfreed(const GraphState& graph, const void* address, std::string_view role, NodeKind kind,
                     const SourceLocation& where);

} // namespace cudag::detail
