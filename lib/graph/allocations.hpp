// Graph memory: the allocations and frees of a graph's nodes.
#pragma once

#include "lists/growth.hpp"
#include "node_table.hpp"

#include <cudag/node.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudag::detail {

/// Memory allocated by a node of a graph, freed by one, or both. Two may share an address: CUDA reuses freed memory.
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

/// An index of a list of allocations. It catches up with a list that grows; call `clear` when the list loses entries.
/// Takes logarithmic time.
class AllocationIndex {
  public:
    /// Returns the latest allocation with memory at `place` among those of the graph itself.
    [[nodiscard]] std::optional<std::size_t> latest(const std::vector<GraphAllocation>& all, std::uintptr_t place) {
        catch_up(all);
        const auto after = latest_.upper_bound(place);
        if (after == latest_.begin() || place >= std::prev(after)->second.end) return std::nullopt;
        return std::prev(after)->second.allocation;
    }
    /// Returns the allocation at `address` by another graph that this graph frees.
    [[nodiscard]] std::optional<std::size_t> foreign(const std::vector<GraphAllocation>& all, std::uintptr_t address) {
        catch_up(all);
        const auto found = foreign_.find(address);
        return found == foreign_.end() ? std::nullopt : std::optional(found->second);
    }
    void clear() noexcept {
        known_ = 0;
        latest_.clear();
        foreign_.clear();
    }

  private:
    struct Stretch {
        std::uintptr_t end;
        std::size_t allocation;
    };

    void catch_up(const std::vector<GraphAllocation>& all) {
        for (; known_ < all.size(); ++known_)
            if (all[known_].alloc)
                assign(all[known_].address, all[known_].address + all[known_].bytes);
            else
                foreign_.try_emplace(all[known_].address, known_);
    }

    /// Assigns the memory from `begin` to `end` to allocation `known_`, over any earlier one.
    void assign(std::uintptr_t begin, std::uintptr_t end) {
        split(begin);
        split(end);
        latest_.erase(latest_.lower_bound(begin), latest_.lower_bound(end));
        latest_.emplace(begin, Stretch{end, known_});
    }
    void split(std::uintptr_t place) {
        const auto after = latest_.lower_bound(place);
        if (after == latest_.begin()) return;
        Stretch& before = std::prev(after)->second;
        if (before.end <= place) return;
        latest_.emplace_hint(after, place, before);
        before.end = place;
    }

    std::size_t known_ = 0;                    ///< number of indexed entries
    std::map<std::uintptr_t, Stretch> latest_; ///< by first address, disjoint
    std::unordered_map<std::uintptr_t, std::size_t> foreign_;
};

/// The allocations of one graph, in the order of their nodes, without those of graphs inside it.
class GraphAllocations {
  public:
    GraphAllocations() = default;
    explicit GraphAllocations(std::vector<GraphAllocation> list) : list_(std::move(list)) {}

    [[nodiscard]] const std::vector<GraphAllocation>& list() const noexcept { return list_; }

    /// Makes room for one more.
    void reserve() { reserve_more(list_, 1); }
    void add(const GraphAllocation& memory) { list_.push_back(memory); }

    /// Returns this graph's latest allocation with memory at `place`; null if there is none.
    [[nodiscard]] const GraphAllocation* find(std::uintptr_t place) const { return at(index_.latest(list_, place)); }
    /// Returns the memory that another graph allocates at `address` and this one frees; null if there is none.
    [[nodiscard]] const GraphAllocation* find_foreign(std::uintptr_t address) const {
        return at(index_.foreign(list_, address));
    }
    /// Give write access: `own` to a result of `find`, `of_node` to the allocation of node `alloc`.
    [[nodiscard]] GraphAllocation& own(const GraphAllocation& found) noexcept {
        return list_[static_cast<std::size_t>(&found - list_.data())];
    }
    [[nodiscard]] GraphAllocation& of_node(std::uint32_t alloc) noexcept {
        return *std::lower_bound(
            list_.begin(), list_.end(), alloc, [](const GraphAllocation& memory, std::uint32_t node) {
                return (memory.alloc ? *memory.alloc : *memory.free) < node; // the node of the entry
            });
    }

    /// Forgets nodes from `first` on.
    void forget_nodes(std::uint32_t first) noexcept {
        index_.clear();
        for (GraphAllocation& memory : list_)
            if (memory.free && *memory.free >= first) memory.free.reset();
        std::erase_if(list_, [first](const GraphAllocation& memory) {
            return memory.alloc ? *memory.alloc >= first : !memory.free && memory.freed_elsewhere == Node();
        });
    }

  private:
    [[nodiscard]] const GraphAllocation* at(const std::optional<std::size_t>& found) const {
        return found ? &list_[*found] : nullptr;
    }

    std::vector<GraphAllocation> list_;
    mutable AllocationIndex index_; ///< catches up in each lookup
};

} // namespace cudag::detail
