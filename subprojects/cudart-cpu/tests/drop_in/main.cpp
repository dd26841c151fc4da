// The host's half of a program: no kernels of its own.
#include "scale.h"

#include <cuda_runtime.h>

#include <cstdio>

int main() {
    int* values = nullptr;
    if (cudaMallocManaged(reinterpret_cast<void**>(&values), 64 * sizeof(int)) != cudaSuccess) return 1;
    for (int i = 0; i < 32; ++i)
        values[i] = i;
    scale(values + 32, values, 3);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s %d\n", cudaGetErrorName(error), values[32]);
    return error == cudaSuccess && values[32] == 93 ? 0 : 1;
}
