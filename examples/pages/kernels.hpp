// The kernels of the programs on the pages of docs/.
#pragma once

#include <cudag/condition.hpp>

#include <cuda_runtime.h>

namespace pages {

/// x[i] *= factor, one element per thread.
__global__ void scale(int n, float factor, float* x);

/// The same, after a wait for the kernels before.
__global__ void scale_after(int n, float factor, float* x);

/// sum[i] = x[i] + y[i], one element per thread.
__global__ void add(int n, const float* x, const float* y, float* sum);

/// Halves `*value`, and sets `again` to 0 as soon as it is no larger than `limit`. One thread.
__global__ void halve(float limit, float* value, cudag::Condition again);

} // namespace pages
