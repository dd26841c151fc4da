// Disabled memset nodes, whose order CUDA forgets where they are small.
#pragma once

#include "node_params.hpp"

#include <cuda_runtime_api.h>

namespace cudag::detail {

/// Whether CUDA, where it disables a memset node with these parameters, lets what comes after it start at once, instead
/// of after what comes before it: so it does with one row of up to 4096 bytes (driver 580, H200 and H100; not if the
/// node was larger when its graph was instantiated, and not in managed memory). False for nodes of other kinds.
[[nodiscard]] bool loses_order(const NodeParams& params) noexcept;

/// Gives a disabled memset node with `params`, for which `loses_order` holds, a fill of scratch memory instead that is
/// large enough to keep the order. It never runs. Call `unpark` before the node is enabled.
[[nodiscard]] NativeResult park(cudaGraphExec_t exec, cudaGraphNode_t node, const NodeParams& params);
/// Gives the node its parameters back.
[[nodiscard]] NativeResult unpark(cudaGraphExec_t exec, cudaGraphNode_t node, const NodeParams& params);

} // namespace cudag::detail
