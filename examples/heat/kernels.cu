// No shared memory and no barrier: the kernel runs under both runtimes.
#include "kernels.hpp"

namespace heat {

__global__ void sweep(const float* from, float* to, int width, int rows, int* change) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + 1;
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width - 1 || y >= rows) return;
    const int i = (y + 1) * width + x;
    // The product with a power of two is exact, so that it makes no difference whether it is fused with the sum.
    const float value =
        from[i] + 0.125f * (from[i - width] + from[i - 1] + from[i + 1] + from[i + width] - 4.0f * from[i]);
    const float difference = fabsf(value - from[i]);
    to[y * width + x] = value;
    if (difference > 0.0f) atomicMax(change, __float_as_int(difference));
}

__global__ void decide(cudag::Condition more, const int* changes, int tolerance, int* turns, int most) {
    const int largest = max(changes[0], max(changes[1], changes[2]));
    const int done = *turns + 1;
    *turns = done;
    more.set(largest > tolerance && done < most ? 1 : 0);
}

} // namespace heat
