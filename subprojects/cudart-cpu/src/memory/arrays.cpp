// CUDA arrays: memory of elements in one to three dimensions, behind a handle.
#include "arrays.hpp"

#include "allocations.hpp"
#include "channels.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/text.hpp"

#include <algorithm>
#include <cstring>

namespace cudart_cpu::detail {

namespace {

// The table is never destroyed: arrays may be freed after main().
HandleTable<Array, cudaArray_t>& arrays() {
    static auto& table = *new HandleTable<Array, cudaArray_t>;
    return table;
}

cudaExtent checked_extent(const cudaExtent& extent, unsigned flags) {
    constexpr unsigned known = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if ((flags & ~known) != 0) {
        fail(cudaErrorInvalidValue, text("array flags ", flags, " are not supported"));
    }
    const bool layered = (flags & cudaArrayLayered) != 0;
    const bool row_of_slices = extent.height == 0 && extent.depth != 0 && !layered;
    const bool bad_cube = (flags & cudaArrayCubemap) != 0 &&
                          (extent.width != extent.height || extent.depth == 0 || extent.depth % 6 != 0);
    constexpr std::size_t most = 131072;
    const bool too_large = extent.width > most || extent.height > most || extent.depth > most;
    if (extent.width == 0 || row_of_slices || bad_cube || too_large || (layered && extent.depth == 0)) {
        fail(cudaErrorInvalidValue, text("no array has the extent (", extent.width, ',', extent.height, ',',
                                         extent.depth, ") with flags ", flags));
    }
    return extent;
}

} // namespace

Array::Array(const cudaChannelFormatDesc& desc_, const cudaExtent& extent_, unsigned flags_)
    : desc(desc_), extent(checked_extent(extent_, flags_)), flags(flags_), element_bytes(element_bytes_of(desc_)) {
    const cudaExtent all = box();
    const std::size_t bytes = all.width * all.height * all.depth * element_bytes;
    if (bytes > device_memory_bytes()) {
        fail(cudaErrorMemoryAllocation, text(bytes, " bytes requested for an array"));
    }
    data = std::make_unique_for_overwrite<char[]>(bytes);
    std::memset(data.get(), fresh_byte_of(cudaMemoryTypeDevice), bytes);
}

cudaExtent Array::box() const noexcept {
    constexpr std::size_t one = 1;
    return {extent.width, std::max(extent.height, one), std::max(extent.depth, one)};
}

cudaArray_t register_array(std::shared_ptr<Array> array) {
    return arrays().add(std::move(array));
}

std::shared_ptr<Array> array_of(cudaArray_const_t handle) {
    auto array = arrays().find(const_cast<cudaArray_t>(handle));
    if (!array) {
        fail(cudaErrorInvalidResourceHandle, text("array ", handle, " is not alive"));
    }
    return array;
}

void destroy_array(cudaArray_t handle) {
    arrays().take(handle);
}

void destroy_arrays_of(int device) {
    arrays().remove_if([=](const Array& array) { return array.device == device; });
}

} // namespace cudart_cpu::detail
