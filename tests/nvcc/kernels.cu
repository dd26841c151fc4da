// Kernels that only nvcc can compile: shared memory, barriers, shuffles, and launches by <<<>>>.
#include "kernels.hpp"

namespace nvcc_tests {

__global__ void block_sums(const int* values, int* sums, int n) {
    __shared__ int of_warps[8];
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    int value = i < n ? values[i] : 0;
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xFFFFFFFF, value, offset);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x != 0) return;
    int sum = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp)
        sum += of_warps[warp];
    sums[blockIdx.x] = sum;
}

__global__ void reversed(const int* values, int* out, int n) {
    extern __shared__ int shared[];
    const int i = static_cast<int>(threadIdx.x);
    shared[i] = values[i];
    __syncthreads();
    out[i] = shared[n - 1 - i];
}

void sums_then_reversed(const int* values, int* sums, int* out, int n, cudaStream_t stream) {
    block_sums<<<n / 256, 256, 0, stream>>>(values, sums, n);
    reversed<<<1, n / 256, (n / 256) * sizeof(int), stream>>>(sums, out, n / 256);
}

} // namespace nvcc_tests
