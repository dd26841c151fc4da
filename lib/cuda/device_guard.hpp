// Makes a device, or that of a stream, current for a while.
#pragma once

#include "driver.hpp"
#include "failure.hpp"

#include <cuda_runtime_api.h>

namespace cudag::detail {

class DeviceGuard {
  public:
    /// Throws Error if CUDA does not know the stream.
    explicit DeviceGuard(cudaStream_t stream) : DeviceGuard(device_of(stream)) {}
    explicit DeviceGuard(int device) {
        checked(cudaGetDevice(&previous_), "cudaGetDevice");
        if (device == previous_) return;
        checked(cudaSetDevice(device), "cudaSetDevice");
        changed_ = true;
    }
    ~DeviceGuard() {
        if (changed_) report_release(cudaSetDevice(previous_), "cudaSetDevice");
    }
    DeviceGuard(const DeviceGuard&) = delete;
    DeviceGuard& operator=(const DeviceGuard&) = delete;

  private:
    int previous_ = 0;
    bool changed_ = false;
};

} // namespace cudag::detail
