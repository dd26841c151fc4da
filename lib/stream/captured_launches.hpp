// What kernels do to memory that are launched into captures: CUDA's nodes do not tell.
#pragma once

#include "node/captured_launch.hpp"

#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/kernel_call.hpp>

#include <cuda_runtime_api.h>

#include <vector>

namespace cudag::detail {

/// Collects the launches of one capture, by any thread.
class CapturedLaunches {
  public:
    /// `capture` is CUDA's number of it.
    explicit CapturedLaunches(unsigned long long capture);
    ~CapturedLaunches();
    CapturedLaunches(const CapturedLaunches&) = delete;
    CapturedLaunches& operator=(const CapturedLaunches&) = delete;

    /// Those since the last time.
    [[nodiscard]] std::vector<CapturedLaunch> take();

    /// Notes what was just launched in `stream`, if it is in such a capture, and tells of memory. Else takes a load, or
    /// a call of CUDA while something else is captured.
    static void note(cudaStream_t stream, const KernelSignature& signature, CallEffects&& effects);

  private:
    unsigned long long capture_;
};

} // namespace cudag::detail
