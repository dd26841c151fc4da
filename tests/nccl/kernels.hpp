// The kernels around NCCL's operations in the tests.
#pragma once

#include <cudag/condition.hpp>

#include <cuda_runtime.h>

/// x[i] = value
__global__ void fill_all(float* x, float value);
/// y[i] = x[i] + value
__global__ void add_each(float* y, const float* x, float value);
/// The condition becomes whether x[0] is less than `limit`.
__global__ void while_below(cudag::Condition condition, const float* x, float limit);
