// The owners of one exec, apart from those of single nodes and host tasks.
#include "exec_owners.hpp"

#include "cuda/relaxed_capture.hpp"
#include "exec_nodes.hpp"
#include "update_rules.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace cudag::detail {

std::optional<OwnerVersions> ExecOwners::brought_by(GraphState& basis) const {
    if (basis_.empty() && !may_have_owners(basis)) return std::nullopt;
    Owners owners;
    list_owners(basis, owners);
    const auto are_kept_by = [&](const OwnerVersions& kept) {
        if (kept.empty()) return owners.empty();
        const Owners& all = kept.front().owners;
        return std::ranges::all_of(owners, [&](const Owner& owner) {
            return std::ranges::find(all, owner.object, &Owner::object) != all.end();
        });
    };
    if (are_kept_by(instantiation_)) owners.clear();
    const bool is_same =
        owners.empty() ? basis_.empty() : are_kept_by(basis_) && basis_.front().owners.size() == owners.size();
    return is_same ? std::nullopt : std::optional(version_of(std::move(owners)));
}

void ExecOwners::keep_basis(OwnerVersions&& owners, InFlight& in_flight) noexcept {
    const RelaxedCapture allow_free; // no capture needs the former ones
    in_flight.retire(std::move(basis_));
    if (!owners.empty()) in_flight.begin_tracking();
    basis_ = std::move(owners);
}

void ExecOwners::retire(InFlight& in_flight) noexcept {
    in_flight.retire(std::move(instantiation_));
    in_flight.retire(std::move(basis_));
    in_flight.retire(std::move(matched_));
}

} // namespace cudag::detail
