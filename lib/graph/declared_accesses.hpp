// Accesses declared by nodes through their arguments and `.reads`, `.writes`; launch signatures of captured kernels.
#pragma once

#include "cuda/light_mutex.hpp"
#include "lists/assertion.hpp"
#include "lists/growth.hpp"
#include "lists/none.hpp"
#include "lists/renumbering.hpp"

#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/kernel_call.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace cudag::detail {

/// The declared accesses of one graph, by node. Any order of additions costs the same: each node has a chain through
/// one list.
///
/// Threads: additions to a built graph happen under the graph's lock. Execs read without that lock, so both additions
/// to built graphs and reads of Execs take `lock()` in addition.
class DeclaredAccesses {
  public:
    /// A captured kernel with its parameter types, which CUDA does not report.
    struct Launch {
        std::uint32_t node;
        const KernelSignature* signature;
    };

    DeclaredAccesses() = default;
    /// Copies; requires the lock of the origin's graph.
    DeclaredAccesses(const DeclaredAccesses& origin)
        : list_(origin.list_), chains_(origin.chains_), launches_(origin.launches_), is_empty_(origin.empty()),
          has_gaps_(origin.has_gaps_) {}
    DeclaredAccesses& operator=(const DeclaredAccesses&) = delete;

    [[nodiscard]] std::unique_lock<LightMutex> lock() const { return std::unique_lock(mutex_); }

    [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
    /// Whether no node declares an access. Needs no lock.
    [[nodiscard]] bool empty() const noexcept { return is_empty_.load(std::memory_order_relaxed); }

    /// Makes room for `more` accesses of node `node`: adding them then cannot fail.
    void reserve(std::uint32_t node, std::size_t more) {
        if (more == 0) return;
        reserve_more(list_, more);
        if (node >= chains_.size()) reserve_more(chains_, node + std::size_t{1} - chains_.size());
    }
    void add(std::uint32_t node, std::span<const ArgumentAccess> accesses) {
        if (accesses.empty()) return;
        reserve(node, accesses.size());
        add_reserved(node, accesses);
    }
    /// Adds the accesses of a node, at least one, for which `reserve` has made room.
    void add_reserved(std::uint32_t node, std::span<const ArgumentAccess> accesses) noexcept {
        CUDAG_ASSERT(!accesses.empty() && has_room(list_, accesses.size()) && chains_.capacity() > node);
        if (chains_.size() <= node) chains_.resize(node + std::size_t{1});
        for (const ArgumentAccess& access : accesses) {
            list_.emplace_back(access, node);
            link(static_cast<std::uint32_t>(list_.size() - 1));
        }
        is_empty_.store(false, std::memory_order_relaxed);
    }
    /// Calls `use(access)` for each access of `node`, in the order of their addition.
    template <class Use>
    void for_each(std::uint32_t node, const Use& use) const {
        if (node >= chains_.size()) return;
        for (std::uint32_t place = chains_[node].first; place != none; place = list_[place].next)
            use(list_[place].access);
    }
    /// Replaces all accesses of one node. Call `close_up` once all are replaced.
    void replace(std::uint32_t node, std::span<const ArgumentAccess> accesses) {
        std::size_t count = 0;
        for_each(node, [&](const ArgumentAccess&) { ++count; });
        if (count == accesses.size()) {
            std::uint32_t place = count == 0 ? none : chains_[node].first;
            for (const ArgumentAccess& access : accesses) {
                list_[place].access = access;
                place = list_[place].next;
            }
            return;
        }
        reserve(node, accesses.size());
        forget(node);
        add(node, accesses);
    }
    /// Closes the gaps left by replacements of different length.
    void close_up() noexcept {
        if (!std::exchange(has_gaps_, false)) return;
        keep_if([](std::uint32_t) { return true; });
        link_all();
    }
    void add_launch(std::uint32_t node, const KernelSignature& signature) {
        launches_.insert(std::ranges::upper_bound(launches_, node, {}, &Launch::node), {node, &signature});
    }
    /// Returns the signature of a captured kernel; null if it is unknown.
    [[nodiscard]] const KernelSignature* signature_of(std::uint32_t node) const noexcept {
        const auto launch = std::ranges::lower_bound(launches_, node, {}, &Launch::node);
        return launch == launches_.end() || launch->node != node ? nullptr : launch->signature;
    }
    void renumber(const Renumbering& next) noexcept {
        keep_if([&](std::uint32_t node) { return next.keeps(node); });
        for (Entry& entry : list_)
            entry.node = next(entry.node);
        for (Launch& launch : launches_)
            launch.node = next(launch.node);
        link_all();
    }
    void forget_from(std::uint32_t first) noexcept {
        keep_if([&](std::uint32_t node) { return node < first; });
        link_all();
    }

  private:
    struct Entry {
        Entry(const ArgumentAccess& of_node, std::uint32_t its_node) noexcept : access(of_node), node(its_node) {}

        ArgumentAccess access;
        std::uint32_t node; ///< `none` for a forgotten entry
        std::uint32_t next = none;
    };
    /// The accesses of one node: places in the list, in ascending order.
    struct Chain {
        std::uint32_t first = none;
        std::uint32_t last = none;
    };

    void link(std::uint32_t place) noexcept {
        Chain& chain = chains_[list_[place].node];
        (chain.first == none ? chain.first : list_[chain.last].next) = place;
        chain.last = place;
    }
    void link_all() noexcept {
        std::ranges::fill(chains_, Chain());
        for (std::uint32_t place = 0; place < list_.size(); ++place) {
            list_[place].next = none;
            link(place);
        }
    }
    void forget(std::uint32_t node) noexcept {
        if (node >= chains_.size()) return;
        for (std::uint32_t place = chains_[node].first; place != none; place = list_[place].next)
            list_[place].node = none;
        chains_[node] = {};
        has_gaps_ = true;
    }
    template <class Keeps>
    void keep_if(const Keeps& keeps) noexcept {
        std::erase_if(list_, [&](const Entry& entry) { return entry.node == none || !keeps(entry.node); });
        std::erase_if(launches_, [&](const Launch& launch) { return !keeps(launch.node); });
        is_empty_.store(list_.empty(), std::memory_order_relaxed);
    }

    mutable LightMutex mutex_;
    std::vector<Entry> list_;
    std::vector<Chain> chains_;    ///< by node, up to the last one with declared accesses
    std::vector<Launch> launches_; ///< in order of their nodes
    std::atomic<bool> is_empty_ = true;
    bool has_gaps_ = false; ///< whether there are forgotten entries
};

} // namespace cudag::detail
