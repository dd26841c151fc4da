// Disabled memset nodes: CUDA loses the order of small ones.
#pragma once

#include "node_params.hpp"

#include <cuda_runtime_api.h>

namespace cudag::detail {

/// Whether CUDA loses the order of a disabled memset node with these parameters: its successors start at once instead
/// of after its predecessors. This happens with one row of up to 4096 bytes (driver 580, H200 and H100), but not if the
/// node was larger at instantiation, and not in managed memory. False for nodes of other kinds.
[[nodiscard]] bool loses_order(const NodeParams& params) noexcept;

/// Replaces the fill of a disabled memset node by one of scratch memory, large enough to keep the order. Requires
/// `loses_order(params)`. The fill never runs. Call `unpark` before enabling the node.
[[nodiscard]] NativeResult park(cudaGraphExec_t exec, cudaGraphNode_t node, const NodeParams& params, int place);
/// Restores the node's parameters.
[[nodiscard]] NativeResult unpark(cudaGraphExec_t exec, cudaGraphNode_t node, const NodeParams& params, int place);

} // namespace cudag::detail
