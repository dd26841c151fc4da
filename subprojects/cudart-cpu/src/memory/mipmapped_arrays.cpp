// Mipmapped arrays: an array for each level, each half the size of the one before.
#include "mipmapped_arrays.hpp"

#include "runtime/call.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/text.hpp"

#include <algorithm>
#include <bit>

namespace cudart_cpu::detail {

namespace {

// The table is never destroyed: arrays may be freed after main().
HandleTable<MipmappedArray, cudaMipmappedArray_t>& mipmapped_arrays() {
    static auto& table = *new HandleTable<MipmappedArray, cudaMipmappedArray_t>;
    return table;
}

/// Whether the depth counts layers: all levels have the same number of them.
bool has_layers(unsigned flags) {
    return (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
}

unsigned most_levels(const cudaExtent& extent, unsigned flags) {
    const std::size_t depth = has_layers(flags) ? 0 : extent.depth;
    return static_cast<unsigned>(std::bit_width(std::max({extent.width, extent.height, depth})));
}

/// Returns the size at a level; 0 for an absent dimension.
std::size_t halved(std::size_t size, unsigned level) {
    return size == 0 ? 0 : std::max<std::size_t>(size >> level, 1);
}

} // namespace

MipmappedArray::MipmappedArray(const cudaChannelFormatDesc& desc, const cudaExtent& extent, unsigned level_count,
                               unsigned flags) {
    std::vector<std::shared_ptr<Array>> made;
    for (unsigned level = 0; level < std::clamp(level_count, 1U, std::max(1U, most_levels(extent, flags))); ++level) {
        const cudaExtent size{halved(extent.width, level), halved(extent.height, level),
                              has_layers(flags) ? extent.depth : halved(extent.depth, level)};
        made.push_back(std::make_shared<Array>(desc, size, flags));
        made.back()->is_level = true;
    }
    levels.reserve(made.size());
    for (std::shared_ptr<Array>& level : made)
        levels.push_back(register_array(std::move(level)));
}

MipmappedArray::~MipmappedArray() {
    for (const cudaArray_t level : levels)
        destroy_array(level);
}

cudaMipmappedArray_t register_mipmapped_array(std::shared_ptr<MipmappedArray> array) {
    return mipmapped_arrays().add(std::move(array));
}

std::shared_ptr<MipmappedArray> mipmapped_array_of(cudaMipmappedArray_const_t handle) {
    auto array = mipmapped_arrays().find(const_cast<cudaMipmappedArray_t>(handle));
    if (!array) fail(cudaErrorInvalidResourceHandle, text("mipmapped array ", handle, " is not alive"));
    return array;
}

void destroy_mipmapped_array(cudaMipmappedArray_t handle) {
    mipmapped_arrays().take(handle);
}

void destroy_mipmapped_arrays_of(int device) {
    mipmapped_arrays().remove_if([=](const MipmappedArray& array) { return array.device == device; });
}

} // namespace cudart_cpu::detail
