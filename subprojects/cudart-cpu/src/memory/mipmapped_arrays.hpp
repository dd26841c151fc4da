// Mipmapped arrays: an array for each level, each half the size of the one before.
#pragma once

#include "arrays.hpp"

#include <vector>

namespace cudart_cpu::detail {

struct MipmappedArray {
    /// Makes at most as many levels as possible. Throws Failure for arrays that CUDA refuses.
    MipmappedArray(const cudaChannelFormatDesc& desc, const cudaExtent& extent, unsigned level_count, unsigned flags);
    MipmappedArray(const MipmappedArray&) = delete;
    MipmappedArray& operator=(const MipmappedArray&) = delete;
    ~MipmappedArray();

    const int device = current_device();
    std::vector<cudaArray_t> levels;
};

cudaMipmappedArray_t register_mipmapped_array(std::shared_ptr<MipmappedArray> array);
/// Returns the array; throws Failure for a dead handle.
std::shared_ptr<MipmappedArray> mipmapped_array_of(cudaMipmappedArray_const_t handle);
void destroy_mipmapped_array(cudaMipmappedArray_t handle);
/// Destroys all mipmapped arrays made while this device was current.
void destroy_mipmapped_arrays_of(int device);

} // namespace cudart_cpu::detail
