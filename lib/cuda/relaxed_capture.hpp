// A scope in which calls forbidden during stream capture are allowed.
#pragma once

#include "failure.hpp"

#include <cuda_runtime_api.h>

namespace cudag::detail {

/// Allows this thread to allocate and free CUDA memory while it, or another thread, captures a stream.
class RelaxedCapture {
  public:
    RelaxedCapture() noexcept : status_(cudaThreadExchangeStreamCaptureMode(&mode_)) { ignore(status_); }
    ~RelaxedCapture() {
        if (status_ == cudaSuccess)
            report_release(cudaThreadExchangeStreamCaptureMode(&mode_), "cudaThreadExchangeStreamCaptureMode");
    }
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

  private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
    cudaError_t status_;
};

} // namespace cudag::detail
