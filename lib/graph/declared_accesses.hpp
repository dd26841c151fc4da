// What nodes do to memory, as far as their arguments and `.reads`, `.writes` tell.
#pragma once

#include "lists/growth.hpp"
#include "lists/renumbering.hpp"

#include <cudag/detail/call_effects.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Of one graph, in order of its nodes.
class DeclaredAccesses {
  public:
    struct Entry {
        std::uint32_t node;
        ArgumentAccess access;
    };

    /// Room for `more`: adding them then cannot fail.
    void reserve(std::size_t more) { reserve_more(list_, more); }
    void add(std::uint32_t node, std::span<const ArgumentAccess> accesses) {
        auto place = list_.end();
        if (!list_.empty() && list_.back().node > node) place = upper(node);
        for (const ArgumentAccess& access : accesses)
            place = list_.insert(place, {node, access}) + 1;
    }
    [[nodiscard]] std::span<const Entry> of(std::uint32_t node) const noexcept {
        const auto first =
            std::partition_point(list_.begin(), list_.end(), [&](const Entry& entry) { return entry.node < node; });
        const auto last = std::find_if(first, list_.end(), [&](const Entry& entry) { return entry.node != node; });
        return {first, last};
    }
    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
    void renumber(const Renumbering& next) noexcept {
        std::erase_if(list_, [&](const Entry& entry) { return !next.keeps(entry.node); });
        for (Entry& entry : list_)
            entry.node = next(entry.node);
    }
    void forget_from(std::uint32_t first) noexcept {
        std::erase_if(list_, [&](const Entry& entry) { return entry.node >= first; });
    }

  private:
    [[nodiscard]] std::vector<Entry>::iterator upper(std::uint32_t node) {
        return std::partition_point(list_.begin(), list_.end(), [&](const Entry& entry) { return entry.node <= node; });
    }

    std::vector<Entry> list_;
};

} // namespace cudag::detail
