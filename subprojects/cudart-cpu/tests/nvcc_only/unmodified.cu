// A program that knows nothing of the CPU runtime: nvcc compiled it for NVIDIA's shared runtime. Its first use of each
// kind of thing that nvcc registers is one of its own: a kernel's, a variable's, a managed variable's.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cg = cooperative_groups;

#define REQUIRE(call)                                                                                                  \
    do {                                                                                                               \
        if (const cudaError_t code = (call); code != cudaSuccess) {                                                    \
            std::printf("%s: %s\n", #call, cudaGetErrorString(code));                                                  \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (false)

__constant__ int factor = 2;
__device__ int launches;
__managed__ int managed = 40;

/// The sum of a block, times `factor`.
__global__ void sum(const int* in, int* out) {
    extern __shared__ int partial[];
    partial[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int total = 0;
    if (threadIdx.x < 32) {
        for (unsigned i = threadIdx.x; i < blockDim.x; i += 32)
            total += partial[i];
        for (unsigned step = 16; step > 0; step /= 2)
            total += warp.shfl_down(total, step);
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = factor * total;
        atomicAdd(&launches, 1);
        atomicAdd(&managed, 1);
    }
}

int main(int argc, char** argv) {
    constexpr int blocks = 2;
    constexpr int threads = 128;
    const bool asks_first = argc > 1 && std::strcmp(argv[1], "ask") == 0;
    if (asks_first) {
        cudaFuncAttributes attributes{};
        REQUIRE(cudaFuncGetAttributes(&attributes, sum));
        std::printf("compute capability %d for %d\n", attributes.binaryVersion, attributes.ptxVersion);
    } else if (argc > 1) {
        const int three = 3;
        REQUIRE(cudaMemcpyToSymbol(factor, &three, sizeof three));
    }
    int* in = nullptr;
    int* out = nullptr;
    REQUIRE(cudaMallocManaged(&in, blocks * threads * sizeof(int)));
    REQUIRE(cudaMallocManaged(&out, blocks * sizeof(int)));
    for (int i = 0; i < blocks * threads; ++i)
        in[i] = i;
    sum<<<blocks, threads, threads * sizeof(int)>>>(in, out);
    REQUIRE(cudaGetLastError());
    REQUIRE(cudaDeviceSynchronize());
    int count = 0;
    REQUIRE(cudaMemcpyFromSymbol(&count, launches, sizeof count));
    std::printf("%d %d, %d blocks, %d\n", out[0], out[1], count, managed);
}
