// The owners of one exec, apart from those of single nodes and host tasks.
#pragma once

#include "owners/in_flight.hpp"

#include <optional>
#include <utility>

namespace cudag::detail {

class GraphState;

class ExecOwners {
  public:
    /// Keeps the owners of the instantiation as long as the exec.
    void keep_instantiation(OwnerVersions&& owners) noexcept { instantiation_ = std::move(owners); }

    /// Returns the owners brought by a graph about to become the basis; nothing if this exec already has the same.
    [[nodiscard]] std::optional<OwnerVersions> brought_by(GraphState& basis) const;
    /// Keeps the owners of the new basis instead of the last one's.
    void keep_basis(OwnerVersions&& owners, InFlight& in_flight) noexcept;

    /// Keeps the owners brought by an update by structure, in addition to those of single nodes, until the next such
    /// update or a whole one.
    void keep_matched(OwnerVersions&& owners, InFlight& in_flight) noexcept {
        in_flight.retire(std::move(matched_));
        if (!owners.empty()) in_flight.begin_tracking();
        matched_ = std::move(owners);
    }
    void drop_matched(InFlight& in_flight) noexcept {
        in_flight.retire(std::move(matched_));
        matched_.clear();
    }
    [[nodiscard]] bool has_matched() const noexcept { return !matched_.empty(); }

    /// Calls `visit(owner)` for each owner that updates have brought.
    template <class Visit>
    void for_each_brought(const Visit& visit) const {
        for (const OwnerVersions* versions : {&basis_, &matched_})
            for (const OwnerVersion& version : *versions)
                for (const Owner& owner : version.owners)
                    visit(owner.object);
    }

    /// Whether the instantiation brought owners.
    [[nodiscard]] bool has_instantiation() const noexcept { return !instantiation_.empty(); }
    [[nodiscard]] bool any() const noexcept { return !instantiation_.empty() || !basis_.empty() || !matched_.empty(); }
    /// Drops all owners once the launches with access to them have finished.
    void retire(InFlight& in_flight) noexcept;

  private:
    OwnerVersions instantiation_;
    OwnerVersions basis_;   ///< of the last whole update, where different
    OwnerVersions matched_; ///< of the last update by structure
};

} // namespace cudag::detail
