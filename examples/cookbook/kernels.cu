// The kernels of the recipes.
#include "kernels.hpp"

namespace cookbook {

__global__ void scale(int count, float factor, float* x) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) x[i] *= factor;
}

__global__ void add(int count, const float* x, const float* y, float* sum) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) sum[i] = x[i] + y[i];
}

__global__ void newton(int count, float a, float* x) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) x[i] = 0.5f * (x[i] + a / x[i]);
}

// settle begins
__global__ void settle(float a, const float* x, cudag::Condition again) {
    const float error = *x * *x - a;
    again.set(error > 1e-3f || error < -1e-3f ? 1 : 0);
}
// settle ends

// compare begins
__global__ void compare(float limit, const float* x, cudag::Condition larger) {
    larger.set(*x > limit ? 1 : 0);
}
// compare ends

// resize begins
__global__ void resize(cudag::DeviceNode<int, float, float*> node, const int* count) {
    node.set_argument<0>(*count);
    node.set_grid(dim3((static_cast<unsigned>(*count) + 255) / 256));
}
// resize ends

} // namespace cookbook
