// The kernels of the tests that run graphs on the CPU runtime.
#include "kernels.hpp"

__global__ void multiply_add(int* x, const int* y, int n, int factor) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const auto wrapping = [](int value) { return static_cast<unsigned>(value); }; // cells may be what was there before
    if (i < n) x[i] = static_cast<int>(wrapping(x[i]) * wrapping(factor) + wrapping(y[i]));
}

__global__ void set_condition(cudag::Condition condition, unsigned value) {
    condition.set(value);
}
