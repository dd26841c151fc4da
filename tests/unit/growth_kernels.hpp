// Kernels whose arguments have different sizes.
#pragma once

#include <cuda_runtime.h>

struct Block {
    int values[64];
};

__global__ void store_value(int* cell, int value);
__global__ void store_block(int* cell, Block block);
