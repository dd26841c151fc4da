// Launches of kernels as existing code has them, declared for C++ and for nvcc.
#pragma once

#include <cuda_runtime.h>

/// Reverses the 32 elements of x, and adds 1 to each.
void reverse(cudaStream_t stream, int* x);
