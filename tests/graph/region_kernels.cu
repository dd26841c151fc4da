// Kernels that take regions of memory.
#include "region_kernels.hpp"

__global__ void transpose(cudag::DeviceSpan2D<const int> in, cudag::DeviceSpan2D<int> out) {
    for (std::size_t y = 0; y < in.height(); ++y)
        for (std::size_t x = 0; x < in.width(); ++x)
            out(y, x) = in(x, y);
}

__global__ void number_box(cudag::DeviceSpan3D<int> box) {
    for (std::size_t z = 0; z < box.depth(); ++z)
        for (std::size_t y = 0; y < box.height(); ++y)
            for (std::size_t x = 0; x < box.width(); ++x)
                box(x, y, z) = static_cast<int>(100 * z + 10 * y + x);
}
