// The kernel of the README's example.
#include "readme_kernels.hpp"

__global__ void saxpy(int n, float a, const float* x, float* y) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = a * x[i] + y[i];
}
