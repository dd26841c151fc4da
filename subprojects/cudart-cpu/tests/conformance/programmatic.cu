// Kernels that are joined by programmatic edges.
#include "programmatic.hpp"

namespace {

__device__ void trigger() {
#if defined(CUDART_CPU) || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

__device__ void wait() {
#if defined(CUDART_CPU) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

__device__ void copy(const int* from, int* to, int n, int value) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < static_cast<unsigned>(n)) {
        to[i] = *static_cast<const volatile int*>(from + i) + value;
    }
}

} // namespace

__global__ void trigger_then_store(int* p, int index, int value) {
    trigger();
    p[index] = value;
}

__global__ void wait_then_copy_plus(const int* from, int* to, int n, int value) {
    wait();
    copy(from, to, n, value);
}

__global__ void wait_copy_plus_trigger(const int* from, int* to, int n, int value) {
    wait();
    copy(from, to, n, value);
    trigger();
}

__global__ void trigger_then_store_late(int* p, int index, int value) {
    trigger();
    for (int i = 0; i < 5000; ++i) {
        static_cast<void>(*static_cast<const volatile int*>(p + index));
    }
    p[index] = value;
}
