// Kernels that take regions of memory.
#pragma once

#include <cuda_runtime.h>

#include <cudag/span_2d.hpp>
#include <cudag/span_3d.hpp>

/// out(y, x) = in(x, y)
__global__ void transpose(cudag::DeviceSpan2D<const int> in, cudag::DeviceSpan2D<int> out);
/// box(x, y, z) = 100 * z + 10 * y + x
__global__ void number_box(cudag::DeviceSpan3D<int> box);
