// What nodes do to memory, as far as their arguments and `.reads`, `.writes` tell; and what captured ones were launched
// with.
#pragma once

#include "lists/growth.hpp"
#include "lists/renumbering.hpp"

#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/kernel_call.hpp>

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
    /// A captured kernel, and the types of its parameters, which CUDA does not tell.
    struct Launch {
        std::uint32_t node;
        const KernelSignature* signature;
    };

    /// Finds what nodes declare that are asked for in ascending order, without a search for each.
    class Reader {
      public:
        explicit Reader(const DeclaredAccesses& declared) noexcept
            : next_(declared.list_.data()), end_(next_ + declared.list_.size()) {}

        [[nodiscard]] std::span<const Entry> of(std::uint32_t node) noexcept {
            while (next_ != end_ && next_->node < node)
                ++next_;
            const Entry* const first = next_;
            while (next_ != end_ && next_->node == node)
                ++next_;
            return {first, next_};
        }

      private:
        const Entry* next_;
        const Entry* end_;
    };

    [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
    /// Room for `more`: adding them then cannot fail.
    void reserve(std::size_t more) { reserve_more(list_, more); }
    void add(std::uint32_t node, std::span<const ArgumentAccess> accesses) {
        if (list_.empty() || list_.back().node <= node) {
            for (const ArgumentAccess& access : accesses)
                list_.push_back({node, access});
            return;
        }
        auto place = upper(node);
        for (const ArgumentAccess& access : accesses)
            place = list_.insert(place, {node, access}) + 1;
    }
    [[nodiscard]] std::span<const Entry> of(std::uint32_t node) const noexcept {
        const auto first =
            std::partition_point(list_.begin(), list_.end(), [&](const Entry& entry) { return entry.node < node; });
        const auto last = std::find_if(first, list_.end(), [&](const Entry& entry) { return entry.node != node; });
        return {first, last};
    }
    /// All of one node.
    void replace(std::uint32_t node, std::span<const ArgumentAccess> accesses) {
        const std::span<const Entry> former = of(node);
        const auto first = list_.begin() + (former.data() - list_.data());
        if (former.size() == accesses.size()) {
            std::transform(accesses.begin(), accesses.end(), first, [&](const ArgumentAccess& a) {
                return Entry{node, a};
            });
            return;
        }
        list_.erase(first, first + static_cast<std::ptrdiff_t>(former.size()));
        add(node, accesses);
    }
    void add_launch(std::uint32_t node, const KernelSignature& signature) {
        launches_.insert(std::ranges::upper_bound(launches_, node, {}, &Launch::node), {node, &signature});
    }
    /// Null if it is not known.
    [[nodiscard]] const KernelSignature* signature_of(std::uint32_t node) const noexcept {
        const auto launch = std::ranges::lower_bound(launches_, node, {}, &Launch::node);
        return launch == launches_.end() || launch->node != node ? nullptr : launch->signature;
    }
    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
    void renumber(const Renumbering& next) noexcept {
        std::erase_if(list_, [&](const Entry& entry) { return !next.keeps(entry.node); });
        for (Entry& entry : list_)
            entry.node = next(entry.node);
        std::erase_if(launches_, [&](const Launch& launch) { return !next.keeps(launch.node); });
        for (Launch& launch : launches_)
            launch.node = next(launch.node);
    }
    void forget_from(std::uint32_t first) noexcept {
        std::erase_if(list_, [&](const Entry& entry) { return entry.node >= first; });
        std::erase_if(launches_, [&](const Launch& launch) { return launch.node >= first; });
    }

  private:
    [[nodiscard]] std::vector<Entry>::iterator upper(std::uint32_t node) {
        return std::partition_point(list_.begin(), list_.end(), [&](const Entry& entry) { return entry.node <= node; });
    }

    std::vector<Entry> list_;
    std::vector<Launch> launches_; ///< in order, too
};

} // namespace cudag::detail
