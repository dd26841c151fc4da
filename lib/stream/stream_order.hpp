// Order of streams on any devices, by events.
#pragma once

#include "cuda/handles.hpp"

#include <cuda.h>
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

/// Orders streams as `order_streams` does, again and again: by one event, as long as device and context stay the same.
class StreamOrders {
  public:
    [[nodiscard]] OrderResult order(cudaStream_t before, cudaStream_t after);

  private:
    UniqueEvent event_;           ///< null before the first order
    int device_ = 0;              ///< of the event
    CUcontext context_ = nullptr; ///< current when the event was made
};

} // namespace cudag::detail
