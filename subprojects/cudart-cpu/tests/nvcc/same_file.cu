// Compiled twice, with other names for the host: each copy has variables of its own.
#include <cuda_runtime.h>

namespace {

__device__ int counter;

__global__ void count(int* to) {
    *to = ++counter;
}

} // namespace

void COUNT(int* to) {
    count<<<1, 1>>>(to);
}

cudaError_t SET(int value) {
    return cudaMemcpyToSymbol(counter, &value, sizeof value);
}
