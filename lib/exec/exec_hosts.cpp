// Runs of an exec's host nodes.
#include "exec_hosts.hpp"

#include <utility>
#include <variant>

namespace cudag::detail {

ExecHosts::ExecHosts(std::shared_ptr<HostLaunches> launches)
    : claim_(launches ? launches->claim() : nullptr), launches_(std::move(launches)) {}

const std::shared_ptr<HostLaunches>& ExecHosts::launches() {
    if (!launches_) {
        if (!claim_) claim_ = std::make_shared<HostClaim>();
        launches_ = std::make_shared<HostLaunches>(claim_);
    }
    return launches_;
}

HostRun* ExecHosts::run(const NodePlace& node, const NodeParams& params, OwnerVersions& owners) {
    const auto* const* host = std::get_if<const HostParams*>(&params);
    if (host == nullptr || !is_host_task(**host)) return nullptr;
    const std::shared_ptr<HostRun> run = make_host_run(launches(), *node.graph, node.index, **host);
    if (owners.empty())
        owners = version_of({{0, 0, run}});
    else
        owners.front().owners.push_back({0, 0, run});
    return run.get();
}

std::vector<HostNodeRun> ExecHosts::runs(const GraphState& mine, const GraphState& next) {
    if (!has_host_tasks(next)) return {};
    return make_host_runs(launches(), mine, next);
}

void ExecHosts::take_claim_of(ExecHosts& former) noexcept {
    if (!former.claim_) return;
    claim_ = std::move(former.claim_);
    if (launches_) launches_->set_claim(claim_);
}

void ExecHosts::retire(InFlight& in_flight) noexcept {
    in_flight.retire(std::move(owners_));
    if (claim_) claim_gone(claim_);
}

} // namespace cudag::detail
