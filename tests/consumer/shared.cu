// What only nvcc compiles, <<<>>> and __shared__, as its default C++17. Like NVIDIA's helper_math.h, it defines lerp,
// which is a name of C++20.
#include "shared.hpp"

#include <math.h>

namespace {

constexpr int count = 32;

} // namespace

inline __device__ __host__ float lerp(float from, float to, float t) {
    return from + t * (to - from);
}

__global__ void reversed(int* x) {
    __shared__ int tile[count];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[count - 1 - threadIdx.x] + static_cast<int>(lerp(0.0f, 2.0f, 0.5f));
}

void reverse(cudaStream_t stream, int* x) {
    reversed<<<1, count, 0, stream>>>(x);
}
