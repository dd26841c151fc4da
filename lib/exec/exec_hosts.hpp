// The host nodes of one exec: what CUDA is to call for them, and who may ask what they throw.
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

    /// Null before there is a host node.
    [[nodiscard]] HostLaunches* find_launches() const noexcept { return launches_.get(); }

    /// What CUDA is to call if `params` are a host task: made, and kept by `owners`. Null for all other parameters.
    [[nodiscard]] HostRun* run(const NodePlace& node, const NodeParams& params, OwnerVersions& owners);
    /// Runs for host nodes of `mine`, a graph of the exec, with the callables of `next`.
    [[nodiscard]] std::vector<HostNodeRun> runs(const GraphState& mine, const GraphState& next);
    /// Keeps those that an update of the whole has brought in, until the next one.
    void keep(OwnerVersions&& owners, InFlight& in_flight) noexcept {
        in_flight.retire(std::move(owners_));
        if (!owners.empty()) [[unlikely]]
            owners_ = std::move(owners);
    }

    /// Throws HostError if host nodes threw in the launches, and nobody has seen it.
    void rethrow() const {
        if (claim_) rethrow_host_failures(claim_);
    }
    /// The exec replaces that of `former`: what the host nodes of both throw is for one Exec to tell.
    void take_claim_of(ExecHosts& former) noexcept;
    /// The exec is destroyed.
    void retire(InFlight& in_flight) noexcept;

  private:
    /// Made with the first host node.
    [[nodiscard]] const std::shared_ptr<HostLaunches>& launches();

    std::shared_ptr<HostClaim> claim_;       ///< null before there is a host node
    std::shared_ptr<HostLaunches> launches_; ///< the same
    OwnerVersions owners_;                   ///< of the runs that the last whole update brought in
};

} // namespace cudag::detail
