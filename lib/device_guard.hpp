// Makes a stream's device current for a while.
#pragma once

#include "failure.hpp"

#include <cuda_runtime_api.h>

namespace cudag::detail {

class DeviceGuard {
  public:
    /// Throws Error if CUDA does not know the stream.
    explicit DeviceGuard(cudaStream_t stream) {
        int device = 0;
        checked(cudaGetDevice(&device), "cudaGetDevice");
        previous_ = device;
#if CUDART_VERSION >= 12080 // before, only streams of the current device are supported here
        checked(cudaStreamGetDevice(stream, &device), "cudaStreamGetDevice");
#else
        static_cast<void>(stream);
#endif
        if (device == previous_) return;
        checked(cudaSetDevice(device), "cudaSetDevice");
        changed_ = true;
    }
    ~DeviceGuard() {
        if (changed_) ignore(cudaSetDevice(previous_));
    }
    DeviceGuard(const DeviceGuard&) = delete;
    DeviceGuard& operator=(const DeviceGuard&) = delete;

  private:
    int previous_ = 0;
    bool changed_ = false;
};

} // namespace cudag::detail
