// Kernels with mistakes that a GPU may pass over, and CUDART_CPU_CHECK does not.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

namespace {

__global__ void past_the_end(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = i;
}

__global__ void misaligned(char* out) {
    *reinterpret_cast<int*>(out + 2) = 1;
}

__global__ void past_shared(int* out, int i) {
    __shared__ int values[32];
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x + i];
}

__global__ void race(int* out) {
    __shared__ int values[64];
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    out[threadIdx.x] = values[63 - threadIdx.x]; // no barrier
}

__global__ void race_in_warp(int* out) {
    __shared__ int values[32];
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    out[threadIdx.x] = values[31 - threadIdx.x]; // no __syncwarp
}

/// Right, with each way to meet.
__global__ void in_order(int* out) {
    __shared__ int values[64];
    __shared__ int sum;
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int value = values[63 - threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = value;
    __syncwarp();
    value += values[threadIdx.x ^ 1];
    atomicAdd(&sum, value);
    __syncthreads();
    int* const heap = static_cast<int*>(malloc(16));
    heap[3] = sum;
    out[threadIdx.x] = heap[3];
    free(heap);
}

} // namespace

int main(int, char** arguments) {
    const char* const name = arguments[1];
    int* memory = nullptr;
    int* freed = nullptr;
    cudaMalloc(&memory, 100 * sizeof(int));
    cudaMalloc(&freed, 64 * sizeof(int));
    cudaFree(freed);
    if (std::strcmp(name, "past-the-end") == 0) past_the_end<<<2, 64>>>(memory, 100);
    if (std::strcmp(name, "freed") == 0) past_the_end<<<1, 32>>>(freed, 32);
    if (std::strcmp(name, "misaligned") == 0) misaligned<<<1, 1>>>(reinterpret_cast<char*>(memory));
    if (std::strcmp(name, "shared") == 0) past_shared<<<1, 32>>>(memory, 10);
    if (std::strcmp(name, "race") == 0) race<<<1, 64>>>(memory);
    if (std::strcmp(name, "race-in-warp") == 0) race_in_warp<<<1, 32>>>(memory);
    if (std::strcmp(name, "right") == 0) in_order<<<2, 64>>>(memory);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
