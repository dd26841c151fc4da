// The kernels of the solver. None needs shared memory or a barrier, so they run under both runtimes.
#include "kernels.hpp"

namespace jacobi {
namespace {

__device__ inline void finish(Progress* progress) {
    ++progress->sweeps;
    progress->change = __int_as_float(progress->change_bits);
    progress->change_bits = 0;
}

} // namespace

__global__ void sweep(Progress* progress, const float* right_side, float* even, float* odd, int side) {
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    const int begin = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * values_per_thread;
    if (y >= side || begin >= side) {
        return;
    }
    const bool forth = progress->sweeps % 2 == 0;
    const float* from = forth ? even : odd;
    float* to = forth ? odd : even;

    const int row = side + 2;
    const int end = min(begin + values_per_thread, side);
    float largest = 0.0f;
    for (int x = begin; x < end; ++x) {
        const int i = (y + 1) * row + x + 1;
        // A product with a power of two is exact, so that it makes no difference whether it is fused with the rest.
        const float value = 0.25f * (from[i - row] + from[i - 1] + from[i + 1] + from[i + row] + right_side[i]);
        largest = fmaxf(largest, fabsf(value - from[i]));
        to[i] = value;
    }
    if (largest > 0.0f) {
        atomicMax(&progress->change_bits, __float_as_int(largest));
    }
}

__global__ void end_sweep(Progress* progress) {
    finish(progress);
}

__global__ void end_sweep_and_decide(Progress* progress, float tolerance, unsigned limit, cudag::Condition again) {
    finish(progress);
    again.set(progress->change > tolerance && progress->sweeps < limit ? 1 : 0);
}

} // namespace jacobi
