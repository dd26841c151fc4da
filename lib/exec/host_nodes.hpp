// The host nodes of an exec: CUDA calls them through the exec's own runs, which know the node and the launch.
#pragma once

#include "node/native_result.hpp"
#include "owners/host_call.hpp"

#include <cudag/detail/owners.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

namespace cudag::detail {

class GraphState;

/// A host node of an exec, and the run that CUDA calls.
struct HostNodeRun {
    cudaGraphNode_t node;
    std::shared_ptr<HostRun> run;
};

/// Makes a run of `task` in later launches, for node `index` of `graph`.
[[nodiscard]] std::shared_ptr<HostRun> make_host_run(const std::shared_ptr<HostLaunches>& launches,
                                                     const GraphState& graph, std::uint32_t index,
                                                     const HostParams& task);

/// Makes runs for the host nodes of `mine`, the source graph of an exec or a graph inside it, with the callables at the
/// same places in `next`.
[[nodiscard]] std::vector<HostNodeRun> make_host_runs(const std::shared_ptr<HostLaunches>& launches,
                                                      const GraphState& mine, const GraphState& next);

/// Returns owners that keep the runs.
[[nodiscard]] Owners owners_of(const std::vector<HostNodeRun>& runs);

/// Makes CUDA call a node of `exec` through `run`.
[[nodiscard]] NativeResult set_host_run(cudaGraphExec_t exec, cudaGraphNode_t node, HostRun& run);

} // namespace cudag::detail
