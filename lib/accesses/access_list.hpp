// A compact list of memory accesses, with each block stored once.
#pragma once

#include "memory_access.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// A list of accesses in a fourth of the memory, since most accesses share blocks.
class AccessList {
  public:
    AccessList() = default;
    AccessList(const std::vector<MemoryAccess>& accesses); // NOLINT: the same accesses

    /// Makes room for `count` accesses.
    void reserve(std::size_t count) { list_.reserve(count); }
    void add(const MemoryAccess& access);
    /// Gives each node its number in `numbers`, and sorts the accesses by these. All nodes of a captured region must
    /// get one number: afterwards no node is a part of a region.
    void renumber(std::span<const std::uint32_t> numbers);

    [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
    [[nodiscard]] MemoryAccess operator[](std::size_t access) const noexcept {
        const auto& [node, block, order] = list_[access];
        return {node, order.mode, blocks_[block], order.unit, access < part_of_.size() ? part_of_[access] : 0};
    }
    [[nodiscard]] std::uint32_t node_of(std::size_t access) const noexcept { return list_[access].node; }
    [[nodiscard]] AccessOrder order_of(std::size_t access) const noexcept { return list_[access].order; }
    /// The index of the access's block in `blocks()`.
    [[nodiscard]] std::uint32_t block_of(std::size_t access) const noexcept { return list_[access].block; }
    [[nodiscard]] std::span<const MemoryBlock> blocks() const noexcept { return blocks_; }
    /// Whether the accesses are by node in ascending order.
    [[nodiscard]] bool is_by_node() const noexcept { return std::ranges::is_sorted(list_, {}, &Stored::node); }
    /// Whether captured regions declare some of the accesses.
    [[nodiscard]] bool has_units() const noexcept { return has_units_; }

  private:
    struct Stored {
        std::uint32_t node;
        std::uint32_t block;
        AccessOrder order;
    };

    [[nodiscard]] std::uint32_t number_of(const MemoryBlock& block);
    [[nodiscard]] std::size_t slot_of(const MemoryBlock& block) const noexcept;
    void grow_table();

    std::vector<Stored> list_;
    std::vector<std::uint32_t> part_of_; ///< of the first accesses; later ones have none
    bool has_units_ = false;
    std::vector<MemoryBlock> blocks_;
    std::vector<std::uint32_t> table_; ///< numbers of blocks by their hash; at least half of it is free
};

} // namespace cudag::detail
