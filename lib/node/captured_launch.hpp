// A kernel launch recorded by stream capture.
#pragma once

#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/kernel_call.hpp>

#include <cuda_runtime_api.h>

#include <vector>

namespace cudag::detail {

/// Information about the node that CUDA does not report.
struct CapturedLaunch {
    cudaGraphNode_t node;
    const KernelSignature* signature; ///< of types; null for a Function, for which CUDA reports as much
    std::vector<ArgumentAccess> accesses;
    bool waits = false; ///< LaunchConfig::waits_for_previous
};

} // namespace cudag::detail
