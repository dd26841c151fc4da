// Calls of host functions.
#pragma once

#include "native_result.hpp"

#include <cuda_runtime_api.h>

namespace cudag::detail {

class Fields;

[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const cudaHostNodeParams& host);
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const cudaHostNodeParams& host);
[[nodiscard]] cudaHostNodeParams read_host(cudaGraphNode_t node);

void compare(const cudaHostNodeParams& before, const cudaHostNodeParams& after, Fields& fields);

} // namespace cudag::detail
