// CUDA arrays: memory of elements in one to three dimensions, behind a handle.
#pragma once

#include "runtime/live_counts.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

namespace cudart_cpu::detail {

struct Array {
    /// Throws Failure for what CUDA does not make.
    Array(const cudaChannelFormatDesc& desc, const cudaExtent& extent, unsigned flags);

    const cudaChannelFormatDesc desc;
    const cudaExtent extent; // as it was asked for: an array of one row has height 0
    const unsigned flags;
    const std::size_t element_bytes;

    /// The same with no dimension 0.
    [[nodiscard]] cudaExtent box() const noexcept;

    std::unique_ptr<char[]> data; // row after row, slice after slice
    Counted<Kind::device_allocation> counted;
};

cudaArray_t register_array(std::shared_ptr<Array> array);
/// These throw Failure for handles of what is not alive.
std::shared_ptr<Array> array_of(cudaArray_const_t handle);
void destroy_array(cudaArray_t handle);

} // namespace cudart_cpu::detail
