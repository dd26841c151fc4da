// The kernels of these tests.
#include "kernels.cuh"

#include <device_launch_parameters.h>

namespace {

__device__ __forceinline__ int clamp_to(int value, int limit) {
    return min(value, limit);
}

} // namespace

__global__ void __launch_bounds__(256) apply(int* __restrict__ out, Affine map, unsigned char scale, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        out[i] = clamp_to(static_cast<int>(i * map.factor) * scale + map.offset, 1000);
    }
}

__global__ void indices(unsigned* out) {
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] += 1;
}

__global__ void sums(int* i, unsigned* u, unsigned long long* l, float* f, double* d, int* largest) {
    atomicAdd(i, 1);
    atomicAdd(u, 1);
    atomicAdd(l, 1);
    atomicAdd(f, 1);
    atomicAdd(d, 1.0);
    atomicMax(largest, static_cast<int>(threadIdx.x));
    __threadfence();
}

__global__ void math(float* out, const float* in) {
    out[0] = max(0.5f, __ldg(in)) + rsqrtf(4.0f) + fmaxf(1.0f, 2.0f) + sqrtf(9.0f);
    out[1] = static_cast<float>(__popc(0xFFu) + __clz(1) + __ffs(8) + __float2int_rn(2.5f) + warpSize);
    unsigned cell = 3;
    const unsigned old = atomicCAS(&cell, 3, 5);
    out[2] = static_cast<float>(old + atomicExch(&cell, 9) + cell + atomicMin(&cell, 4));
}

__global__ void nothing() {}

__global__ void produce(int* cell, int value) {
    cudaTriggerProgrammaticLaunchCompletion();
    *cell = value;
}

__global__ void consume_at_once(int* seen, const int* cell) {
    *seen = *cell;
}

__global__ void consume_after_wait(int* seen, const int* cell) {
    const unsigned thread = threadIdx.x;
    cudaGridDependencySynchronize();
    // A kernel that ran in the meantime has indices of its own.
    *seen = threadIdx.x == thread && blockDim.x == 2 ? *cell : -1;
}
