// The kernels alone: C++ without a launch, a barrier or shared memory.
#include "other_file.hpp"

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL(name, ...) __global__ void name(__VA_ARGS__)

__global__ void fill(int* values, int n) {
    const unsigned i = INDEX;
    if (i < static_cast<unsigned>(n)) values[i] = static_cast<int>(i) + 1;
}

namespace lines {

__global__ void __launch_bounds__(256) apply(int* values, Line line, const unsigned n) {
    if (INDEX < n) values[INDEX] = values[INDEX] * line.factor + line.offset;
}

__global__ void apply(int* values, int* const, unsigned char, short offset) {
    values[INDEX] += offset;
}

} // namespace lines

extern "C" KERNEL(count, int* counter) {
    atomicAdd(counter, 1);
}
