// Where the elements of a texture or surface are.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace cudart_cpu::detail {

struct Array;

/// One level, in rows and slices. It keeps no memory: freeing the array or allocation below a texture is a mistake that
/// address sanitizer sees.
struct Texels {
    char* data = nullptr;
    cudaChannelFormatDesc desc{};
    std::size_t element_bytes = 0;
    /// As the array was asked for: a dimension that there is not is 0. Of layers, cubes and faces the depth counts all.
    cudaExtent extent{};
    std::size_t row_bytes = 0;
    std::size_t slice_bytes = 0;
};

Texels texels_of(Array& array);

} // namespace cudart_cpu::detail
