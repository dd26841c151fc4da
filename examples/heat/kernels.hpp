// The kernel of the heat equation.
#pragma once

#include <cuda_runtime.h>

namespace heat {

/// One sweep over `rows` rows of `width` values: reads `from`, which also has the row above and the row below, and
/// writes `to`. The first and the last value of a row stay as they are. `change` becomes the largest change of a value
/// if that is larger; it has the bits of a float, which are ordered as the floats from 0 on.
__global__ void sweep(const float* from, float* to, int width, int rows, int* change);

} // namespace heat
