// Updates a whole exec from another graph.
#pragma once

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

/// cudaGraphExecUpdate: sets `result`, unless it is null or an argument is none; throws Failure if the exec stays as it
/// was.
void update_exec(cudaGraphExec_t handle, cudaGraph_t source, cudaGraphExecUpdateResultInfo* result);

} // namespace cudart_cpu::detail
