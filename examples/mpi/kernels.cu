// No shared memory and no barrier: the kernels run under both runtimes.
#include "kernels.hpp"

namespace mpi_example {

__global__ void fill(int n, float value, float* x) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) x[i] = value;
}

__global__ void add(int n, const float* x, const float* y, float* sum) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) sum[i] = x[i] + y[i];
}

__global__ void newton(int n, const float* a, float* x, int* change, int* steps) {
    float largest = 0.0f;
    for (int i = 0; i < n; ++i) {
        const float next = 0.5f * (x[i] + a[i] / x[i]);
        largest = fmaxf(largest, fabsf(next - x[i]));
        x[i] = next;
    }
    *change = __float_as_int(largest);
    ++*steps;
}

__global__ void decide(cudag::Condition again, const int* change, float tolerance) {
    again.set(__int_as_float(*change) > tolerance ? 1 : 0);
}

} // namespace mpi_example
