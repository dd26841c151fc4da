// What updates have set in an exec's nodes: CUDA has no getter for it.
#pragma once

#include "in_flight.hpp"
#include "node_params.hpp"

#include <cstdint>
#include <deque>
#include <memory_resource>
#include <vector>

namespace cudag::detail {

/// The parameters in force in one node, and what they own.
struct Shadow {
    NodeParams params;
    OwnerVersions owners = {}; ///< none if everything that updates brought in is borrowed
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
        of_[number] = &all_.emplace_back(Shadow{copy_params(arena_, params)});
        return *of_[number];
    }

    /// A copy of `params` that lives as long as the shadows.
    [[nodiscard]] NodeParams store(const NodeParams& params) { return copy_params(arena_, params); }

    /// Drops what they own once the launches that may use it have finished.
    void retire(const InFlight& in_flight) noexcept {
        for (Shadow& shadow : all_)
            in_flight.retire(std::move(shadow.owners));
    }

  private:
    std::pmr::monotonic_buffer_resource arena_{};
    std::deque<Shadow> all_;
    std::vector<Shadow*> of_; ///< empty before the first shadow
};

} // namespace cudag::detail
