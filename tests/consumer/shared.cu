// What only nvcc compiles: <<<>>> and __shared__. As the kernels of loops, it has a header of cudag, in C++20.
#include "shared.hpp"

#include <cudag/condition.hpp>

namespace {

constexpr int count = 32;

} // namespace

__global__ void reversed(int* x) {
    __shared__ int tile[count];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[count - 1 - threadIdx.x] + 1;
}

void reverse(cudaStream_t stream, int* x) {
    reversed<<<1, count, 0, stream>>>(x);
}
