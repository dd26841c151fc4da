// No shared memory and no barrier: the kernels run under both runtimes.
#include "kernels.hpp"

namespace data_parallel {
namespace {

__device__ inline int thread_index() {
    return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

} // namespace

__global__ void forward(const float* in, const float* weights, float* out, Shape shape, bool is_hidden) {
    const int i = thread_index();
    if (i >= shape.batch * shape.width) return;
    const int row = i / shape.width, column = i % shape.width;
    float sum = 0;
    for (int k = 0; k < shape.width; ++k)
        sum += in[row * shape.width + k] * weights[k * shape.width + column];
    out[i] = is_hidden && sum < 0.0f ? 0.0f : sum;
}

__global__ void compare(const float* out, const float* target, float* error, Shape shape, float scale) {
    const int i = thread_index();
    if (i < shape.batch * shape.width) error[i] = (out[i] - target[i]) * scale;
}

__global__ void weight_gradient(const float* in, const float* error, float* gradient, Shape shape) {
    const int i = thread_index();
    if (i >= shape.width * shape.width) return;
    const int row = i / shape.width, column = i % shape.width;
    float sum = 0;
    for (int sample = 0; sample < shape.batch; ++sample)
        sum += in[sample * shape.width + row] * error[sample * shape.width + column];
    gradient[i] = sum;
}

__global__ void propagate(const float* error, const float* weights, const float* in, float* before, Shape shape) {
    const int i = thread_index();
    if (i >= shape.batch * shape.width) return;
    const int row = i / shape.width, column = i % shape.width;
    float sum = 0;
    for (int k = 0; k < shape.width; ++k)
        sum += error[row * shape.width + k] * weights[column * shape.width + k];
    before[i] = in[i] > 0.0f ? sum : 0.0f;
}

__global__ void improve(float* weights, const float* gradient, int count, float rate) {
    const int i = thread_index();
    if (i < count) weights[i] -= rate * gradient[i];
}

} // namespace data_parallel
