// Orders streams by events, whichever devices they are on.
#pragma once

#include <cuda_runtime_api.h>

namespace cudag::detail {

/// CUDA's answer, and which call gave it.
struct OrderResult {
    cudaError_t status;
    const char* operation;
};

/// What is enqueued into `after` from now on comes after what is in `before`. Both may be captured, and on any device:
/// CUDA records an event only in streams of the device that was current when it was made. Where it fails the last
/// error is set.
[[nodiscard]] OrderResult order_streams(cudaStream_t before, cudaStream_t after);

} // namespace cudag::detail
