// The compute capability of a device.
#pragma once

#include "failure.hpp"

#include <cudag/error.hpp>

#include <cuda_runtime_api.h>

namespace cudag::detail {

/// The first major compute capability with early launch (PDL).
inline constexpr int early_launch_major = 9;

struct ComputeCapability {
    int major = 0;
    int minor = 0;
};

/// The compute capability of a device. Throws GraphError.
[[nodiscard]] inline ComputeCapability compute_capability(int device) {
    ComputeCapability found;
    checked<GraphError>(cudaDeviceGetAttribute(&found.major, cudaDevAttrComputeCapabilityMajor, device),
                        "cudaDeviceGetAttribute");
    checked<GraphError>(cudaDeviceGetAttribute(&found.minor, cudaDevAttrComputeCapabilityMinor, device),
                        "cudaDeviceGetAttribute");
    return found;
}

/// The compute capability of the current device. Throws GraphError.
[[nodiscard]] inline ComputeCapability compute_capability() {
    int device = 0;
    checked<GraphError>(cudaGetDevice(&device), "cudaGetDevice");
    return compute_capability(device);
}

} // namespace cudag::detail
