// Effective parameters of an exec's updated nodes: CUDA has no getter for them.
#pragma once

#include "node/owned_params.hpp"
#include "owners/in_flight.hpp"

#include <cudag/detail/call_effects.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory_resource>
#include <optional>
#include <vector>

namespace cudag::detail {

/// The effective parameters of one node, and their owners.
struct Shadow {
    OwnedParams params;
    OwnerVersions owners = {};              ///< none if all operands of updates are borrowed
    std::byte* place = nullptr;             ///< the memory of `params`
    std::size_t place_bytes = 0;            ///< may exceed their size
    bool is_disabled_memset = false;        ///< CUDA's node is disabled, and may be parked
    std::vector<bool> disabled_copies = {}; ///< of a batch: CUDA has them without bytes; empty if there are none
    /// The accesses declared by the node; nothing if they are its original ones.
    std::optional<std::vector<ArgumentAccess>> declared = std::nullopt;
};

/// The shadows of one exec, by the nodes' numbers. Most nodes have none.
class Shadows {
  public:
    [[nodiscard]] Shadow* find(std::uint32_t number) noexcept { return of_.empty() ? nullptr : of_[number]; }
    [[nodiscard]] const Shadow* find(std::uint32_t number) const noexcept {
        return of_.empty() ? nullptr : of_[number];
    }

    /// Makes a shadow with a copy of `params` for a node without one; `nodes` is the number of all nodes.
    Shadow& make(std::uint32_t number, std::uint32_t nodes, const NodeParams& params) {
        if (of_.empty()) of_.resize(nodes);
        Shadow fresh;
        fresh.params = OwnedParams(make_place(fresh, copy_bytes(params)), params);
        of_[number] = &all_.emplace_back(std::move(fresh));
        return *of_[number];
    }

    /// Makes room in `shadow` for `params`, without a visible change: `assign` then cannot fail. A node keeps its
    /// largest place, so updates to and fro take no more memory.
    void reserve(Shadow& shadow, const NodeParams& params) {
        const std::size_t bytes = copy_bytes(params);
        if (bytes <= shadow.place_bytes) return;
        const NodeParams current = shadow.params.view(); // stays valid: the arena frees nothing
        shadow.params = OwnedParams(make_place(shadow, std::max(bytes, 2 * shadow.place_bytes)), current);
    }
    static void assign(Shadow& shadow, const NodeParams& params) noexcept {
        shadow.params = OwnedParams(shadow.place, params);
    }

    [[nodiscard]] bool empty() const noexcept { return of_.empty(); }
    void clear() noexcept {
        of_.clear();
        all_.clear();
        arena_.release();
    }

    [[nodiscard]] bool keep_owners() const noexcept {
        return std::ranges::any_of(all_, [](const Shadow& shadow) { return !shadow.owners.empty(); });
    }
    /// Calls `visit(owner)` for each owner.
    template <class Visit>
    void for_each_owner(const Visit& visit) const {
        for (const Shadow& shadow : all_)
            for (const OwnerVersion& version : shadow.owners)
                for (const Owner& owner : version.owners)
                    visit(owner.object);
    }
    /// Drops the owners once the launches with access to them have finished.
    void retire(InFlight& in_flight) noexcept {
        for (Shadow& shadow : all_)
            in_flight.retire(std::move(shadow.owners));
    }

  private:
    std::byte* make_place(Shadow& shadow, std::size_t bytes) {
        shadow.place = static_cast<std::byte*>(arena_.allocate(bytes));
        shadow.place_bytes = bytes;
        return shadow.place;
    }

    std::pmr::monotonic_buffer_resource arena_{};
    std::pmr::list<Shadow> all_{&arena_};
    std::vector<Shadow*> of_; ///< empty before the first shadow
};

} // namespace cudag::detail
