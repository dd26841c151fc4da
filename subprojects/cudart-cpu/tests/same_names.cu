// One of two shared objects, whose kernels and variables have the same names.
#include <cuda_runtime.h>

__device__ int number = NUMBER;

__global__ void write_number(int* to) {
    *to = number;
}

extern "C" __attribute__((visibility("default"))) void* KERNEL() {
    return reinterpret_cast<void*>(&write_number);
}

extern "C" __attribute__((visibility("default"))) cudaError_t SET(int value) {
    return cudaMemcpyToSymbol(&number, &value, sizeof value, 0, cudaMemcpyHostToDevice);
}
