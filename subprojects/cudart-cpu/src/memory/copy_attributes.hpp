// The parameters of batches of copies, and their checks.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#if CUDART_VERSION >= 12080

namespace cudart_cpu::detail {

/// The parameters of cudaMemcpyBatchAsync, and of a node.
struct CopyBatch {
    void* const* destinations;
    const void* const* sources;
    const std::size_t* sizes;
    std::size_t count;
    const cudaMemcpyAttributes* attributes;
    const std::size_t* first_of_attributes;
    std::size_t attribute_count;
};

// These functions throw Failure.

/// Returns the number of an order.
int checked_order(const cudaMemcpySrcAccessOrder& order);
/// Checks the flags of one copy.
void require_copy_flags(unsigned flags);
/// Checks that each copy has valid attributes. An empty batch needs none.
void require_attributes(const CopyBatch& batch);

} // namespace cudart_cpu::detail

#endif
