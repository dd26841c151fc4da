// The instantiation of graphs.
#pragma once

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

/// cudaGraphInstantiateWithParams. Sets the results in `params`, and `exec` on success; throws Failure otherwise.
void instantiate_with_params(cudaGraphExec_t& exec, cudaGraph_t graph, cudaGraphInstantiateParams& params);

} // namespace cudart_cpu::detail
