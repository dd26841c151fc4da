// Places of the elements of a texture or surface.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace cudart_cpu::detail {

struct Array;

/// One level, in rows and slices. It keeps no memory: freeing the array or allocation below a texture is an error that
/// address sanitizer detects.
struct Texels {
    char* data = nullptr;
    cudaChannelFormatDesc desc{};
    std::size_t element_bytes = 0;
    /// The extent as requested for the array: 0 for absent dimensions. The depth counts all layers and faces of cubes.
    cudaExtent extent{};
    std::size_t row_bytes = 0;
    std::size_t slice_bytes = 0;
};

Texels texels_of(Array& array);

} // namespace cudart_cpu::detail
