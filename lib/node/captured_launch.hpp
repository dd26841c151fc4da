// A kernel that was launched into a capture.
#pragma once

#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/kernel_call.hpp>

#include <cuda_runtime_api.h>

#include <vector>

namespace cudag::detail {

/// What CUDA does not tell of the node.
struct CapturedLaunch {
    cudaGraphNode_t node;
    const KernelSignature* signature; ///< of types; null for a Function, of which CUDA tells as much
    std::vector<ArgumentAccess> accesses;
};

} // namespace cudag::detail
