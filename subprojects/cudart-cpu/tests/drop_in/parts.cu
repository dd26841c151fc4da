// Device functions and variables that kernels of another file use.
#include "parts.cuh"

__device__ int total = 100;
__constant__ int weights[2] = {5, 7};

__device__ int Square::area() const {
    return side * side;
}

__device__ int weighted(int value) {
    return value * weights[1] + twice(1);
}

__device__ int sum_of_block(int value) {
    __shared__ int values[64];
    values[threadIdx.x] = value;
    __syncthreads();
    int sum = 0;
    for (unsigned i = 0; i < blockDim.x; ++i)
        sum += values[i];
    __syncthreads();
    return sum;
}

__device__ int ended_early(int limit) {
    if (static_cast<int>(threadIdx.x) >= limit) asm("exit;");
    return limit;
}
