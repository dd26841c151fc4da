// The plugin's kernel, declared for C++ and for nvcc.
#pragma once

#include <cuda_runtime.h>

/// x[i] *= x[i] of the first n elements, one per thread.
__global__ void square(int n, int* x);
