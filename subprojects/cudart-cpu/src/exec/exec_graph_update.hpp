// Updates a whole exec, or a child graph in it, from another graph.
#pragma once

#include "exec_model.hpp"

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

/// cudaGraphExecUpdate: sets `result`, unless it is null or an argument is none; throws Failure if the exec stays as it
/// was.
void update_exec(cudaGraphExec_t handle, cudaGraph_t source, cudaGraphExecUpdateResultInfo* result);

/// A child graph's parameters from another graph. Throws Failure, and changes nothing, if CUDA does not allow it.
void update_child(Exec& exec, NodeState& state, const Graph& from);

} // namespace cudart_cpu::detail
