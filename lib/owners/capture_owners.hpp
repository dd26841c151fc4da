// The owners of work recorded by captures, by capture.
#pragma once

#include <cudag/detail/owners.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

namespace cudag::detail {

/// Collects, from any thread, the owners of one capture of cudag's for its graph to keep.
class CaptureOwners {
  public:
    /// `capture` is CUDA's number of the capture.
    explicit CaptureOwners(unsigned long long capture);
    ~CaptureOwners();
    CaptureOwners(const CaptureOwners&) = delete;
    CaptureOwners& operator=(const CaptureOwners&) = delete;

    /// Moves the owners collected since the last call to the end of `list`. Throws std::bad_alloc; loses none then.
    void move_to(std::vector<std::shared_ptr<const void>>& list);

  private:
    unsigned long long capture_;
};

/// Keeps `owners` with the graph of the capture of `stream`, begun by cudag or by others. No effect if the stream is
/// not captured.
void keep_with_capture(cudaStream_t stream, const Owners& owners);

} // namespace cudag::detail
