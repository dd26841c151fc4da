// The owners that work brings into captures, by capture.
#pragma once

#include <cudag/detail/owners.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

namespace cudag::detail {

/// Collects the owners of one capture of cudag's, which its graph is to keep, from any thread.
class CaptureOwners {
  public:
    /// `capture` is CUDA's number of it.
    explicit CaptureOwners(unsigned long long capture);
    ~CaptureOwners();
    CaptureOwners(const CaptureOwners&) = delete;
    CaptureOwners& operator=(const CaptureOwners&) = delete;

    /// Those since the last time.
    [[nodiscard]] std::vector<std::shared_ptr<const void>> take();

  private:
    unsigned long long capture_;
};

/// Keeps `owners` with the graph that `stream` is being captured into, by cudag or anybody else; nothing if the stream
/// is not captured.
void keep_with_capture(cudaStream_t stream, const Owners& owners);

} // namespace cudag::detail
