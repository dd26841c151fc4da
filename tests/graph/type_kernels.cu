// Kernels whose parameters have the sizes of those of `store`.
#include "type_kernels.hpp"

__global__ void store_float(float* cell, float value) {
    *cell = value;
}

__global__ void store_negative(int* cell, int value) {
    *cell = -value;
}
