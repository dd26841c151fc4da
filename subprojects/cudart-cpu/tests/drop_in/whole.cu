// A program in one file, which tells the standard and the macros that it was compiled by.
#include <cstdio>

#ifndef VALUE
#define VALUE 1
#endif

template <class T>
__global__ void fill(T* out, T value) {
    out[threadIdx.x] = value;
}

int main(int count, char**) {
    int* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    fill<<<1, 32>>>(out, VALUE);
    int value = 0;
    const cudaError_t error = cudaMemcpy(&value, out + 31, sizeof value, cudaMemcpyDeviceToHost);
    std::printf("%s %d, C++%ld, %d arguments\n", cudaGetErrorName(error), value, __cplusplus / 100 % 100, count - 1);
    return 0;
}
