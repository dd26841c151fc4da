// The kernels of the programs on the pages of docs/.
#include "kernels.hpp"

#include <cudag/wait_for_previous.hpp>

namespace pages {

// scale begins
__global__ void scale(int n, float factor, float* x) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) x[i] *= factor;
}
// scale ends

// wait begins
__global__ void scale_after(int n, float factor, float* x) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    cudag::wait_for_previous(); // before any access to memory of others, and before any return
    if (i < n) x[i] *= factor;
}
// wait ends

__global__ void add(int n, const float* x, const float* y, float* sum) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) sum[i] = x[i] + y[i];
}

__global__ void halve(float limit, float* value, cudag::Condition again) {
    *value *= 0.5f;
    again.set(*value > limit ? 1 : 0);
}

} // namespace pages
