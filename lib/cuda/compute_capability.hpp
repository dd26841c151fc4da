// The compute capability of a device.
#pragma once

#include "failure.hpp"

#include <cudag/error.hpp>

#include <cuda_runtime_api.h>

namespace cudag::detail {

struct ComputeCapability {
    int major = 0;
    int minor = 0;
};

/// The compute capability of the current device. Throws GraphError.
[[nodiscard]] inline ComputeCapability compute_capability() {
    int device = 0;
    ComputeCapability found;
    checked<GraphError>(cudaGetDevice(&device), "cudaGetDevice");
    checked<GraphError>(cudaDeviceGetAttribute(&found.major, cudaDevAttrComputeCapabilityMajor, device),
                        "cudaDeviceGetAttribute");
    checked<GraphError>(cudaDeviceGetAttribute(&found.minor, cudaDevAttrComputeCapabilityMinor, device),
                        "cudaDeviceGetAttribute");
    return found;
}

} // namespace cudag::detail
