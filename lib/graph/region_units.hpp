// The captured regions of a graph's nodes.
#pragma once

#include "lists/growth.hpp"
#include "lists/renumbering.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace cudag::detail {

/// The captured regions of one graph, by the indices of their nodes. Unlike RegionNodes, a clone has them, too.
class RegionUnits {
  public:
    /// Makes room for one more region: `add` then cannot fail.
    void reserve() { reserve_more(list_, 1); }
    /// Adds a region behind all others. `unit` is its number, not 0.
    void add(std::uint32_t first, std::uint32_t count, std::uint32_t unit) noexcept {
        list_.push_back({first, first + count, unit});
    }
    /// Returns the number of the region of a node; 0 if it is in none.
    [[nodiscard]] std::uint32_t of(std::uint32_t node) const noexcept {
        const auto after = std::ranges::upper_bound(list_, node, {}, &Region::first);
        return after == list_.begin() || node >= std::prev(after)->end ? 0 : std::prev(after)->unit;
    }
    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }

    /// Follows a removal of nodes. A region goes as a whole.
    void renumber(const Renumbering& next) noexcept {
        std::erase_if(list_, [&](const Region& region) { return !next.keeps(region.first); });
        for (auto& [first, end, unit] : list_) {
            const std::uint32_t count = end - first;
            first = next(first);
            end = first + count;
        }
    }
    void forget_from(std::uint32_t first) noexcept {
        std::erase_if(list_, [&](const Region& region) { return region.first >= first; });
    }

  private:
    struct Region {
        std::uint32_t first;
        std::uint32_t end;
        std::uint32_t unit;
    };

    std::vector<Region> list_; ///< in order
};

} // namespace cudag::detail
