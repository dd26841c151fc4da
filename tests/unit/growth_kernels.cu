// Kernels whose arguments have different sizes.
#include "growth_kernels.hpp"

__global__ void store_value(int* cell, int value) {
    *cell = value;
}
__global__ void store_block(int* cell, Block block) {
    *cell = block.values[63];
}
