// Makes an exec of a graph.
#pragma once

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

/// cudaGraphInstantiateWithParams: sets `params`' results, and `exec` if it succeeds; throws Failure if not.
void instantiate_with_params(cudaGraphExec_t& exec, cudaGraph_t graph, cudaGraphInstantiateParams& params);

} // namespace cudart_cpu::detail
