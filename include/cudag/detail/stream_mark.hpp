// StreamMark: a position in a stream, recorded by an Event.
#pragma once

#include <cudag/config.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace cudag::detail {

/// Identifies the launches with host nodes in a stream up to a point. By default, there are none.
struct StreamMark {
    cudaStream_t stream = nullptr;
    unsigned long long id = 0;
    std::uint64_t order = 0; ///< the number of the last launch of the process before the point; 0 if there was none
};

/// Returns a mark for the launches in `stream` so far; the default mark while `stream` is captured. Calls no CUDA
/// function before the first launch with host nodes. Throws Error if CUDA does not identify the stream.
[[nodiscard]] StreamMark mark_stream(cudaStream_t stream);

/// Throws HostError if these launches have host failures not yet reported.
void rethrow_host_failures(const StreamMark& mark);

} // namespace cudag::detail
