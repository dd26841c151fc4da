// An index of changing accesses by their memory.
#pragma once

#include "memory_access.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>

namespace cudag::detail {

/// Finds entries that overlap a block. `Entry` is a MemoryAccess. An entry may wait: searches ignore it
/// until `put`.
///
/// Lists hold the entries by the power of two of their extent, with reads in lists of their own, each list by first
/// address. A search visits the overlapping entries, and in each list the entries that begin at most twice their extent
/// before the block.
template <class Entry>
class AccessIndex {
    using List = std::multimap<std::uintptr_t, Entry>;

  public:
    struct Place {
        List* list;
        typename List::iterator entry;

        [[nodiscard]] Entry& operator*() const noexcept { return entry->second; }
    };

    AccessIndex() = default;
    AccessIndex(const AccessIndex&) = delete;
    AccessIndex& operator=(const AccessIndex&) = delete;

    Place add(const Entry& entry) {
        List& list = list_of(entry);
        return {&list, list.emplace(entry.block.begin, entry)};
    }
    static void remove(const Place& place) noexcept { place.list->erase(place.entry); }

    Place add_waiting(const Entry& entry) {
        List& list = list_of(entry);
        return {&list, waiting_.emplace(entry.block.begin, entry)};
    }
    void put(Place& place) noexcept { place.entry = place.list->insert(waiting_.extract(place.entry)); }
    void remove_waiting(const Place& place) noexcept { waiting_.erase(place.entry); }

    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& [kind, list] : lists_)
            for (const auto& [begin, entry] : list)
                visit(entry);
        for (const auto& [begin, entry] : waiting_)
            visit(entry);
    }

    /// Calls `visit(entry)` for each entry with an overlapping extent; a read visits no reads. Stops if `visit` returns
    /// false.
    template <class Visit>
    void for_each_overlapping(const MemoryAccess& access, const Visit& visit) const {
        const MemoryBlock& block = access.block;
        for (const auto& [kind, list] : lists_) {
            const auto [width, are_reads] = kind;
            if (are_reads && access.mode == AccessMode::read) continue;
            const std::uintptr_t widest = width < 64 ? std::uintptr_t{1} << width : ~std::uintptr_t{0};
            auto entry = list.lower_bound(block.begin - std::min(block.begin, widest));
            for (; entry != list.end() && entry->first < block.end(); ++entry)
                if (entry->second.block.end() > block.begin && !visit(entry->second)) return;
        }
    }

  private:
    [[nodiscard]] List& list_of(const Entry& entry) {
        const MemoryBlock& block = entry.block;
        const auto width = static_cast<std::uint32_t>(std::bit_width(block.end() - block.begin));
        return lists_[{width, entry.mode == AccessMode::read}];
    }

    List waiting_;
    std::map<std::pair<std::uint32_t, bool>, List> lists_; ///< by the width of the extent, and whether they read
};

} // namespace cudag::detail
