// Order of streams on any devices, by events.
#pragma once

#include <cuda_runtime_api.h>

namespace cudag::detail {

/// CUDA's result, and the call that returned it.
struct OrderResult {
    cudaError_t status;
    const char* operation;
};

/// Orders later work in `after` behind the present work in `before`. Both may be captured, and on any device: CUDA
/// records an event only in streams of the device current at the event's creation. On failure the last error is set.
[[nodiscard]] OrderResult order_streams(cudaStream_t before, cudaStream_t after);

} // namespace cudag::detail
