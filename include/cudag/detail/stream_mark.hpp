// A place in a stream: what an Event remembers of the launches before it.
#pragma once

#include <cudag/config.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace cudag::detail {

/// The launches in a stream up to a point, as far as they have host nodes; none by default.
struct StreamMark {
    cudaStream_t stream = nullptr;
    unsigned long long id = 0;
    std::uint64_t order = 0; ///< of the last launch of all before it; 0 if there was none
};

/// The launches made in `stream` so far. Asks CUDA nothing before the first launch with host nodes. Throws Error if
/// CUDA does not tell which stream it is.
[[nodiscard]] StreamMark mark_stream(cudaStream_t stream);

/// Throws HostError if host nodes of these launches threw what nobody has seen.
void rethrow_host_failures(const StreamMark& mark);

} // namespace cudag::detail
