// Batches of copies, unordered among each other.
#pragma once

#include "memory/copy_attributes.hpp"
#include "stream/stream.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>

#if CUDART_VERSION >= 12080

namespace cudart_cpu::detail {

// These throw Failure. Copies before the wrong one stay enqueued, as on a GPU. If `failed` is not null, it gets the
// number of the wrong copy, or the largest number if the error concerns none of them.

void submit_copies(const CopyBatch& batch, cudaStream_t stream, std::size_t* failed = nullptr);
void submit_copies(const cudaMemcpy3DBatchOp* operations, std::size_t count, unsigned long long flags,
                   cudaStream_t stream, std::size_t* failed = nullptr);

} // namespace cudart_cpu::detail

#endif
