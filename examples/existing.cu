// A kernel with shared memory, and a reduction of cub's.
#include "existing.hpp"

#include <cub/device/device_reduce.cuh>

namespace {

constexpr int block = 256;

} // namespace

__global__ void blur(int n, float weight, const float* in, float* out) {
    __shared__ float tile[block + 2]; // with a neighbour on each side
    const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
    const int at = static_cast<int>(threadIdx.x) + 1;
    tile[at] = i < n ? in[i] : 0;
    if (at == 1) tile[0] = i > 0 ? in[i - 1] : 0;
    if (at == block) tile[block + 1] = i + 1 < n ? in[i + 1] : 0;
    __syncthreads();
    if (i < n) out[i] = weight * (tile[at - 1] + tile[at] + tile[at + 1]);
}

void blurred(cudaStream_t stream, int n, const float* in, float* out) {
    blur<<<(n + block - 1) / block, block, 0, stream>>>(n, 0.25f, in, out);
}

std::size_t scratch_for(int n) {
    std::size_t bytes = 0;
    const float* const in = nullptr;
    float* const out = nullptr;
    cub::DeviceReduce::Sum(nullptr, bytes, in, out, n);
    return bytes;
}

void sum(cudaStream_t stream, int n, const float* in, float* out, void* scratch, std::size_t scratch_bytes) {
    cub::DeviceReduce::Sum(scratch, scratch_bytes, in, out, n, stream);
}
