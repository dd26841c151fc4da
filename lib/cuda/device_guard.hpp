// A guard that makes a device, or that of a stream, current for a scope.
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

/// Whether this process sees one device only. Queries CUDA once. Throws GraphError if CUDA does not answer.
inline bool is_only_device() {
    static const bool only = [] {
        int count = 0;
        checked<GraphError>(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
        return count == 1;
    }();
    return only;
}

/// The current device. Queries CUDA only if there are several. Throws GraphError if CUDA does not answer.
inline int device_here() {
    int device = 0;
    if (!is_only_device()) checked<GraphError>(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

/// Calls `attempt()` with each device current, except the current one, until it returns true. Returns whether it did.
/// For streams of unknown device: a query during their capture would break the capture.
template <class F>
bool succeeds_on_another_device(const F& attempt) {
    int here = 0, count = 0;
    checked(cudaGetDevice(&here), "cudaGetDevice");
    checked(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    for (int device = 0; device < count; ++device) {
        if (device == here) continue;
        const DeviceGuard guard(device);
        if (attempt()) return true;
    }
    return false;
}

} // namespace cudag::detail
