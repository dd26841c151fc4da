// The kernels around NCCL's operations in the tests: a thread for each element.
#include "kernels.hpp"

__global__ void fill_all(float* x, float value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add_each(float* y, const float* x, float value) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + value;
}

__global__ void while_below(cudag::Condition condition, const float* x, float limit) {
    condition.set(x[0] < limit ? 1 : 0);
}
