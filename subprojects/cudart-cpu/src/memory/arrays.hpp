// CUDA arrays: memory of elements in one to three dimensions, behind a handle.
#pragma once

#include "runtime/device_model.hpp"
#include "runtime/live_counts.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

namespace cudart_cpu::detail {

struct Array {
    /// Throws Failure for arrays that CUDA refuses.
    Array(const cudaChannelFormatDesc& desc, const cudaExtent& extent, unsigned flags);

    const cudaChannelFormatDesc desc;
    const cudaExtent extent; // as requested: an array of one row has height 0
    const unsigned flags;
    const std::size_t element_bytes;
    const int device = current_device();
    bool is_level = false; // of a mipmapped array, which frees it

    /// The extent with 1 in place of each 0.
    [[nodiscard]] cudaExtent box() const noexcept;

    std::unique_ptr<char[]> data; // row after row, slice after slice
    Counted<Kind::device_allocation> counted;
};

cudaArray_t register_array(std::shared_ptr<Array> array);
/// Returns the array; throws Failure for a dead handle.
std::shared_ptr<Array> array_of(cudaArray_const_t handle);
/// Users of the array keep it alive.
void destroy_array(cudaArray_t handle);
/// Destroys all arrays made while this device was current.
void destroy_arrays_of(int device);

} // namespace cudart_cpu::detail
