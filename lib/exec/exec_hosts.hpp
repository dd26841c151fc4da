// The host nodes of one exec: their runs, called by CUDA, and the claim to their failures.
#pragma once

#include "graph/node_place.hpp"
#include "host_nodes.hpp"
#include "node/node_params.hpp"
#include "owners/host_call.hpp"
#include "owners/in_flight.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace cudag::detail {

class ExecHosts {
  public:
    /// `launches` is null if the exec has no host node yet.
    explicit ExecHosts(std::shared_ptr<HostLaunches> launches);

    /// Returns null before the first host node.
    [[nodiscard]] HostLaunches* find_launches() const noexcept { return launches_.get(); }

    /// Makes a run for CUDA to call, kept by `owners`, if `params` are a host task; returns null for other parameters.
    [[nodiscard]] HostRun* run(const NodePlace& node, const NodeParams& params, OwnerVersions& owners);
    /// Makes runs for host nodes of `mine`, a graph of the exec, with the callables of `next`.
    [[nodiscard]] std::vector<HostNodeRun> runs(const GraphState& mine, const GraphState& next);
    [[nodiscard]] bool keep_owners() const noexcept { return !owners_.empty(); }
    /// Keeps the runs of a whole update until the next one.
    void keep(OwnerVersions&& owners, InFlight& in_flight) noexcept {
        in_flight.retire(std::move(owners_));
        if (!owners.empty()) [[unlikely]]
            owners_ = std::move(owners);
    }

    /// Throws HostError if host nodes threw in the launches, and no call has reported it.
    void rethrow() const {
        if (claim_) rethrow_host_failures(claim_);
    }
    /// Takes the claim of `former`, replaced by this exec: one Exec reports the host failures of both.
    void take_claim_of(ExecHosts& former) noexcept;
    /// Call when the exec is destroyed.
    void retire(InFlight& in_flight) noexcept;

  private:
    /// Makes the launches for the first host node.
    [[nodiscard]] const std::shared_ptr<HostLaunches>& launches();

    std::shared_ptr<HostClaim> claim_;       ///< null before the first host node
    std::shared_ptr<HostLaunches> launches_; ///< null before the first host node
    OwnerVersions owners_;                   ///< of the runs of the last whole update
};

} // namespace cudag::detail
