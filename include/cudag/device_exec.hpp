// DeviceExec: a handle to an executable graph, for use in kernels.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>

#include <cuda_runtime_api.h>

namespace cudag {

/// A handle for device-side graph launch, a kernel argument returned by `Exec::on_device()`. The Exec must have been
/// instantiated with `.device_launch`.
///
///     void launcher(cudag::DeviceExec next); // a kernel; it calls next.launch_tail()
///     cudag::Exec launched = graph.instantiate({.device_launch = true});
///     launched.upload(stream);
///     b.kernel(config, launcher, launched.on_device());
///
/// A small value to copy. The Exec must outlive the handle and every launch. A kernel can launch graphs only if it runs
/// in a graph itself, launched by the host or by a kernel, on the same device. Never launch a running graph again,
/// except by its own tail launch. Each launch returns CUDA's error code, cudaSuccess on success.
class DeviceExec {
  public:
    DeviceExec(detail::Passkey, cudaGraphExec_t exec) noexcept : exec_(exec) {}

    /// Returns CUDA's own handle.
    [[nodiscard]] CUDAG_HOST_DEVICE cudaGraphExec_t native() const noexcept { return exec_; }

    /// Returns whether the handle refers to a graph: see `current`.
    [[nodiscard]] CUDAG_HOST_DEVICE explicit operator bool() const noexcept { return exec_ != nullptr; }

    /// Device only: returns the graph of the calling kernel, such as to launch it again as its own tail. The handle is
    /// empty if the kernel runs in no graph instantiated with `.device_launch`.
    [[nodiscard]] inline __device__ static DeviceExec current() CUDAG_DEVICE_ONLY; // cudag: for kernels only

    /// Device only: launches the graph at once, concurrently with the running graph, which ends only after it. At most
    /// 120 such launches in one run of a graph.
    inline __device__ cudaError_t launch_fire_and_forget() const CUDAG_DEVICE_ONLY; // cudag: for kernels only

    /// Device only: launches the graph after the running graph and all graphs launched by it have ended. At most 255
    /// tail launches may be pending, at most one of them of the running graph itself.
    inline __device__ cudaError_t
    launch_tail() const CUDAG_DEVICE_ONLY; // cudag: for kernels; on the host exec.launch(stream)

    /// Device only: launches the graph at once, concurrently with the running graph and independent of it.
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
