// Kernels that fail, compiled as C++.
#include "failing_kernels.cuh"

#include <cassert>
#include <cstdlib>
#include <vector>

__global__ void missing_memory(int* out) {
    if (threadIdx.x == 5) *out = 1;
}

__global__ void no_address(long long bits) {
    *reinterpret_cast<volatile int*>(bits) = 1;
}

__global__ void asserted(int limit) {
    assert(static_cast<int>(threadIdx.x) < limit);
}

__global__ void trapped() {
    if (blockIdx.x == 1) __trap();
}

__global__ void ends_all() {
    std::abort();
}

__global__ void divided(int* out, int by) {
    *out = 7 / by;
}

__device__ int deep(volatile int* out, int depth) {
    volatile int values[200];
    for (int i = 0; i < 200; ++i)
        values[i] = depth + out[0];
    return depth == 0 ? values[0] : deep(out, depth - 1) + values[depth % 200];
}

__global__ void recursive(int* out, int depth) {
    *out = deep(out, depth);
}

__global__ void thrown(int size) {
    static_cast<void>(std::vector<int>(2).at(static_cast<std::size_t>(size)));
}

__global__ void no_instruction() {
    __builtin_trap();
}

__global__ void fine(int* out) {
    *out = 1;
}
