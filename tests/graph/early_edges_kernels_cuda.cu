// Kernels joined by an early edge.
#include "early_edges_kernels.hpp"

namespace {

__device__ unsigned long long nanoseconds() {
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

} // namespace

__global__ void trigger_then_write(int* cell, int value, const unsigned* begun, unsigned* overlapped) {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
    const unsigned long long start = nanoseconds();
    bool seen = false;
    while (!seen && nanoseconds() - start < 2'000'000'000ULL)
        seen = *static_cast<const volatile unsigned*>(begun) != 0;
    *overlapped = seen ? 1U : 0U;
    *cell = value;
}

__global__ void read_at_once(int* seen, const int* cell, unsigned* begun) {
    *seen = *static_cast<const volatile int*>(cell);
    __threadfence();
    atomicExch(begun, 1U);
}

__global__ void read_after_wait(int* seen, const int* cell, unsigned* begun) {
    atomicExch(begun, 1U);
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    *seen = *static_cast<const volatile int*>(cell);
}
