// A compact list of memory accesses, with each block stored once.
#include "access_list.hpp"

#include "lists/none.hpp"

#include <algorithm>
#include <bit>

namespace cudag::detail {

namespace {

/// A hash in the upper bits.
std::uint64_t hash_of(const MemoryBlock& block) {
    std::uint64_t bits = block.begin ^ std::rotl(std::uint64_t{block.row_bytes}, 40);
    if (!block.is_range())
        bits ^= std::rotl(std::uint64_t{block.rows}, 24) ^ std::rotl(std::uint64_t{block.slices}, 50);
    return bits * 0x9E3779B97F4A7C15U;
}

} // namespace

AccessList::AccessList(const std::vector<MemoryAccess>& accesses) {
    reserve(accesses.size());
    for (const MemoryAccess& access : accesses)
        add(access);
}

void AccessList::add(const MemoryAccess& access) {
    list_.push_back({access.node, number_of(access.block), access.order()});
    has_units_ = has_units_ || access.unit != 0;
    if (access.part_of == 0) return;
    part_of_.resize(list_.size());
    part_of_.back() = access.part_of;
}

void AccessList::renumber(std::span<const std::uint32_t> numbers) {
    for (Stored& access : list_)
        access.node = numbers[access.node];
    part_of_.clear();
    has_units_ = false;
    if (!is_by_node()) std::ranges::stable_sort(list_, {}, &Stored::node);
}

std::uint32_t AccessList::number_of(const MemoryBlock& block) {
    if (table_.size() <= 2 * blocks_.size()) grow_table();
    std::uint32_t& number = table_[slot_of(block)];
    if (number == none) {
        number = static_cast<std::uint32_t>(blocks_.size());
        blocks_.push_back(block);
    }
    return number;
}

/// The slot of the block's number in the table; an empty one if it is missing.
std::size_t AccessList::slot_of(const MemoryBlock& block) const noexcept {
    const std::size_t mask = table_.size() - 1; // the size is a power of two
    std::size_t slot = hash_of(block) >> (64 - std::countr_zero(table_.size()));
    while (table_[slot] != none && blocks_[table_[slot]] != block)
        slot = (slot + 1) & mask;
    return slot;
}

void AccessList::grow_table() {
    table_.assign(std::max<std::size_t>(64, 4 * table_.size()), none);
    for (std::uint32_t number = 0; number < blocks_.size(); ++number)
        table_[slot_of(blocks_[number])] = number;
}

} // namespace cudag::detail
