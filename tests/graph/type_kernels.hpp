// Kernels whose parameters have the sizes of those of `store`.
#pragma once

#include <cuda_runtime.h>

__global__ void store_float(float* cell, float value);

/// *cell = -value
__global__ void store_negative(int* cell, int value);
