// The host nodes of an exec: CUDA calls them through runs of the exec's own, which know the node and the launch.
#pragma once

#include "graph/graph_state.hpp"
#include "owners/host_call.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

namespace cudag::detail {

/// A host node of an exec, and how CUDA is to call it.
struct HostNodeRun {
    cudaGraphNode_t node;
    std::shared_ptr<HostRun> run;
};

/// A run of `task` in the launches to come, for node `index` of `graph`.
[[nodiscard]] std::shared_ptr<HostRun> make_host_run(const std::shared_ptr<HostLaunches>& launches,
                                                     const GraphState& graph, std::uint32_t index,
                                                     const cudaHostNodeParams& task);

/// Runs for the host nodes of `mine`, a graph that an exec was made from or one inside it, with the callables of those
/// at the same places in `next`.
[[nodiscard]] std::vector<HostNodeRun> make_host_runs(const std::shared_ptr<HostLaunches>& launches,
                                                      const GraphState& mine, const GraphState& next);

/// What keeps them.
[[nodiscard]] Owners owners_of(const std::vector<HostNodeRun>& runs);

/// Makes CUDA call a node of `exec` through `run`.
[[nodiscard]] cudaError_t set_host_run(cudaGraphExec_t exec, cudaGraphNode_t node, HostRun& run) noexcept;

} // namespace cudag::detail
