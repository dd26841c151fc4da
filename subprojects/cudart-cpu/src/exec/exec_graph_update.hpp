// Updates of a whole exec, or of a child graph in it, from another graph.
#pragma once

#include "exec_model.hpp"

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

/// cudaGraphExecUpdate. Sets `result`, unless it is null or an argument is invalid. Throws Failure if the exec stays
/// unchanged.
void update_exec(cudaGraphExec_t handle, cudaGraph_t source, cudaGraphExecUpdateResultInfo* result);

/// Gives a child graph the parameters of another graph. Throws Failure, and changes nothing, if CUDA forbids it.
void update_child(Exec& exec, NodeState& state, const Graph& from);

} // namespace cudart_cpu::detail
