// Memory accesses of kernels launched into captures: CUDA's nodes do not report them.
#pragma once

#include "node/captured_launch.hpp"

#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/kernel_call.hpp>

#include <cuda_runtime_api.h>

#include <vector>

namespace cudag::detail {

/// Collects the launches into one capture, by any thread.
class CapturedLaunches {
  public:
    /// `capture` is CUDA's id of the capture.
    explicit CapturedLaunches(unsigned long long capture);
    ~CapturedLaunches();
    CapturedLaunches(const CapturedLaunches&) = delete;
    CapturedLaunches& operator=(const CapturedLaunches&) = delete;

    /// Returns the launches since the last call.
    [[nodiscard]] std::vector<CapturedLaunch> take();

    /// Records a launch just made in `stream`, if such a capture contains it and it declares accesses or to wait for
    /// previous kernels. Otherwise costs a load, or a CUDA call while another stream is captured.
    static void note(cudaStream_t stream, const KernelSignature& signature, CallEffects&& effects, bool waits = false);

  private:
    unsigned long long capture_;
};

} // namespace cudag::detail
