// The kernels of the heat equation.
#pragma once

#include <cudag/condition.hpp>

#include <cuda_runtime.h>

namespace heat {

/// One sweep over `rows` rows of `width` values: reads `from`, which also has the row above and the row below, and
/// writes `to`. The first and the last value of a row stay as they are. `change` becomes the largest change of a value
/// if that is larger; it has the bits of a float, which are ordered as the floats from 0 on.
__global__ void sweep(const float* from, float* to, int width, int rows, int* change);

/// Counts `*turns` up. `more` becomes whether one of three changes is larger than `tolerance`, and there were fewer
/// than `most` turns. All numbers but these have the bits of a float.
__global__ void decide(cudag::Condition more, const int* changes, int tolerance, int* turns, int most);

} // namespace heat
