// A block sum with shared memory, barriers and <<<>>>: compiled by nvcc, run without a GPU.
#include <cstdio>
#include <cstdlib>

__global__ void block_sum(const int* values, int* sums) {
    __shared__ int partial[256];
    const unsigned thread = threadIdx.x;
    partial[thread] = values[blockIdx.x * blockDim.x + thread];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half) partial[thread] += partial[thread + half];
        __syncthreads();
    }
    if (thread == 0) sums[blockIdx.x] = partial[0];
}

static void check(cudaError_t code) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", cudaGetErrorName(code), cudaGetErrorString(code));
    std::exit(1);
}

int main() {
    constexpr int blocks = 4;
    constexpr int threads = 256;
    int* values = nullptr;
    int* sums = nullptr;
    check(cudaMallocManaged(&values, blocks * threads * sizeof(int)));
    check(cudaMallocManaged(&sums, blocks * sizeof(int)));
    for (int i = 0; i < blocks * threads; ++i)
        values[i] = i;
    block_sum<<<blocks, threads>>>(values, sums);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    int sum = 0;
    for (int block = 0; block < blocks; ++block)
        sum += sums[block];
    std::printf("0 + 1 + ... + %d = %d\n", blocks * threads - 1, sum);
    check(cudaFree(values));
    check(cudaFree(sums));
    return sum == blocks * threads * (blocks * threads - 1) / 2 ? 0 : 1;
}
