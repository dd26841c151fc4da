// The kernels of the tests that run graphs on the CPU runtime.
#pragma once

#include <cudag/condition.hpp>

#include <cuda_runtime.h>

/// x[i] = x[i] * factor + y[i]
__global__ void multiply_add(int* x, const int* y, int n, int factor);
__global__ void set_condition(cudag::Condition condition, unsigned value);
