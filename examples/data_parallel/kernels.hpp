// The kernels of a network of fully connected layers: a thread for each result.
#pragma once

#include <cuda_runtime.h>

namespace data_parallel {

/// The sizes of a layer: every layer has as many inputs as outputs.
struct Shape {
    int batch;
    int width;
};

/// out = in * weights, and no less than 0 if `is_hidden`
__global__ void forward(const float* in, const float* weights, float* out, Shape shape, bool is_hidden);
/// error = (out - target) * scale
__global__ void compare(const float* out, const float* target, float* error, Shape shape, float scale);
/// gradient = transposed(in) * error
__global__ void weight_gradient(const float* in, const float* error, float* gradient, Shape shape);
/// before = error * transposed(weights) where `in` is above 0, and 0 elsewhere
__global__ void propagate(const float* error, const float* weights, const float* in, float* before, Shape shape);
/// weights -= rate * gradient
__global__ void improve(float* weights, const float* gradient, int count, float rate);

} // namespace data_parallel
