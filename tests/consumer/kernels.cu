// The consumer's kernels.
#include "kernels.hpp"

#if defined(DEFAULT_STANDARD) && defined(__CUDACC__) // through nvcc, without -std
static_assert(__cplusplus < 202002L, "headers like NVIDIA's helper_math.h define lerp, a name of C++20");
#endif

__global__ void saxpy(int n, float a, const float* x, float* y) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = a * x[i] + y[i];
}
