// DeviceExec: an executable graph in the hands of kernels.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>

#include <cuda_runtime_api.h>

namespace cudag {

/// An Exec that was instantiated with `.device_launch`, as an argument for the kernels that launch it:
/// `Exec::on_device()` gives it. A small value to copy; the Exec must outlive it, and every launch.
/// Kernels launch graphs from within a graph only, one that the host launched or a kernel did, on the same device. A
/// graph that runs must not be launched again, but for its own tail launch. Each launch returns what CUDA says,
/// cudaSuccess if all is well.
class DeviceExec {
  public:
    DeviceExec(detail::Passkey, cudaGraphExec_t exec) noexcept : exec_(exec) {}

    /// CUDA's own handle.
    [[nodiscard]] CUDAG_HOST_DEVICE cudaGraphExec_t native() const noexcept { return exec_; }

    /// Whether there is a graph behind it: see `current`.
    [[nodiscard]] CUDAG_HOST_DEVICE explicit operator bool() const noexcept { return exec_ != nullptr; }

    /// Device only: the graph that runs the calling kernel, such as to launch it again as its own tail; empty in a
    /// kernel that is in no graph that was instantiated with `.device_launch`.
    [[nodiscard]] inline __device__ static DeviceExec current() CUDAG_DEVICE_ONLY; // cudag: for kernels only

    /// Device only: starts at once, beside the graph that runs, which ends when this one has ended, too. At most 120 in
    /// one run of a graph.
    inline __device__ cudaError_t launch_fire_and_forget() const CUDAG_DEVICE_ONLY; // cudag: for kernels only

    /// Device only: starts when the graph that runs has ended, with all that it launched. At most 255 may be pending,
    /// once the graph itself.
    inline __device__ cudaError_t
    launch_tail() const CUDAG_DEVICE_ONLY; // cudag: for kernels; on the host exec.launch(stream)

    /// Device only: starts at once, beside the graph that runs and independent of it.
    inline __device__ cudaError_t
    launch_sibling() const CUDAG_DEVICE_ONLY; // cudag: for kernels; on the host exec.launch(stream)

  private:
    CUDAG_HOST_DEVICE explicit DeviceExec(cudaGraphExec_t exec) noexcept : exec_(exec) {}

    cudaGraphExec_t exec_;
};

#ifdef CUDAG_DEVICE_CODE

inline __device__ DeviceExec DeviceExec::current() {
    return DeviceExec(cudaGetCurrentGraphExec());
}
inline __device__ cudaError_t DeviceExec::launch_fire_and_forget() const {
    return cudaGraphLaunch(exec_, cudaStreamGraphFireAndForget);
}
inline __device__ cudaError_t DeviceExec::launch_tail() const {
    return cudaGraphLaunch(exec_, cudaStreamGraphTailLaunch);
}
inline __device__ cudaError_t DeviceExec::launch_sibling() const {
    return cudaGraphLaunch(exec_, cudaStreamGraphFireAndForgetAsSibling);
}

#endif

} // namespace cudag
