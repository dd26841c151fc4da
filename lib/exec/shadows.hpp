// What updates have set in an exec's nodes: CUDA has no getter for it.
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

/// The parameters in force in one node, and what they own.
struct Shadow {
    OwnedParams params;
    OwnerVersions owners = {};       ///< none if everything that updates brought in is borrowed
    std::byte* place = nullptr;      ///< where `params` are
    std::size_t place_bytes = 0;     ///< may be more than they have
    bool is_disabled_memset = false; ///< CUDA's node is disabled, and may be parked
    /// What the node says that it does to memory; nothing if that is what it was made with.
    std::optional<std::vector<ArgumentAccess>> declared = std::nullopt;
};

/// The shadows of one exec, by the nodes' numbers. Most nodes have none.
class Shadows {
  public:
    [[nodiscard]] Shadow* find(std::uint32_t number) noexcept { return of_.empty() ? nullptr : of_[number]; }
    [[nodiscard]] const Shadow* find(std::uint32_t number) const noexcept {
        return of_.empty() ? nullptr : of_[number];
    }

    /// A shadow for a node that has none, with a copy of `params`; `nodes` is how many nodes there are.
    Shadow& make(std::uint32_t number, std::uint32_t nodes, const NodeParams& params) {
        if (of_.empty()) of_.resize(nodes);
        Shadow fresh;
        fresh.params = OwnedParams(make_place(fresh, copy_bytes(params)), params);
        of_[number] = &all_.emplace_back(std::move(fresh));
        return *of_[number];
    }

    /// Makes room in `shadow` for `params`, and changes nothing that it shows: `assign` then cannot fail. A node keeps
    /// its largest place, so that updates to and fro store no more.
    void reserve(Shadow& shadow, const NodeParams& params) {
        const std::size_t bytes = copy_bytes(params);
        if (bytes <= shadow.place_bytes) return;
        const NodeParams current = shadow.params.view(); // stays where it was, as all in the arena
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

    /// Drops what they own once the launches that may use it have finished.
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
