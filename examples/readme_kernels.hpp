// The kernel of the README's example, declared for C++ and for nvcc.
#pragma once

#include <cuda_runtime.h>

/// y[i] = a * x[i] + y[i], one element per thread.
__global__ void saxpy(int n, float a, const float* x, float* y);
