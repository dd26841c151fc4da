// Finds graph memory by address.
#pragma once

#include "graph_allocation.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace cudag::detail {

/// Of a list of allocations that grows, and forgets what came last. Takes logarithmic time.
class AllocationIndex {
  public:
    /// The last one that has memory at `place` and that the graph itself allocates.
    [[nodiscard]] std::optional<std::size_t> latest(const std::vector<GraphAllocation>& all, std::uintptr_t place) {
        catch_up(all);
        const auto after = latest_.upper_bound(place);
        if (after == latest_.begin() || place >= std::prev(after)->second.end) return std::nullopt;
        return std::prev(after)->second.allocation;
    }
    /// The one that another graph allocates at `address` and this one frees.
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

    /// The memory from `begin` to `end` is of allocation `known_` from now on.
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

    std::size_t known_ = 0;                    ///< how many of the list have been looked at
    std::map<std::uintptr_t, Stretch> latest_; ///< by begin, none over another
    std::unordered_map<std::uintptr_t, std::size_t> foreign_;
};

} // namespace cudag::detail
