// The plugin's kernel.
#include "kernels.hpp"

__global__ void square(int n, int* x) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) x[i] *= x[i];
}
