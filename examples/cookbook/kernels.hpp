// The kernels of the recipes.
#pragma once

#include <cudag/condition.hpp>
#include <cudag/device_node.hpp>

#include <cuda_runtime.h>

namespace cookbook {

/// x[i] *= factor, one element per thread.
__global__ void scale(int count, float factor, float* x);

/// sum[i] = x[i] + y[i], one element per thread.
__global__ void add(int count, const float* x, const float* y, float* sum);

/// One step of Newton's method for the square root of `a`, one element per thread.
__global__ void newton(int count, float a, float* x);

/// Sets `again` to 0 if x[0] is the square root of `a`, and else to 1. One thread.
__global__ void settle(float a, const float* x, cudag::Condition again);

/// Sets `larger` to 1 if x[0] is larger than `limit`, and else to 0. One thread.
__global__ void compare(float limit, const float* x, cudag::Condition larger);

/// Gives `node`, a launch of `scale`, `*count` elements and a grid of 256 threads per block. One thread.
__global__ void resize(cudag::DeviceNode<int, float, float*> node, const int* count);

} // namespace cookbook
