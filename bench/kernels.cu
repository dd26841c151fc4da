// The kernels that the benchmarks put into their nodes.
#include "kernels.hpp"

#include <cudag/wait_for_previous.hpp>

__global__ void touch(float* values, int index, float amount, unsigned count) {
    if (count != 0 && threadIdx.x == 0 && blockIdx.x == 0) values[index] += amount;
}

__global__ void wait_for(const volatile int* gate) {
    while (*gate == 0) {
    }
}

__global__ void combine(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, unsigned salt) {
    if (threadIdx.x != 0 || blockIdx.x != 0) return;
    const unsigned x = a != nullptr ? *a : 0, y = b != nullptr ? *b : 0, z = c != nullptr ? *c : 0;
    *out = combined(x, y, z, salt * gridDim.x);
}

__global__ void wait_and_combine(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out,
                                 unsigned salt) {
    cudag::wait_for_previous();
    if (threadIdx.x != 0 || blockIdx.x != 0) return;
    const unsigned x = a != nullptr ? *a : 0, y = b != nullptr ? *b : 0, z = c != nullptr ? *c : 0;
    *out = combined(x, y, z, salt * gridDim.x);
}

__global__ void combine_otherwise(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out,
                                  unsigned salt) {
    if (threadIdx.x != 0 || blockIdx.x != 0) return;
    const unsigned x = a != nullptr ? *a : 0, y = b != nullptr ? *b : 0, z = c != nullptr ? *c : 0;
    *out = combined(x, y, z, (salt + 1) * gridDim.x);
}

__global__ void spin([[maybe_unused]] unsigned nanoseconds) {
#ifdef __CUDA_ARCH__ // times on a CPU say nothing of a GPU's
    const auto now = [] {
        unsigned long long time = 0;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
        return time;
    };
    if (nanoseconds == 0) return;
    const unsigned long long start = now();
    while (now() - start < nanoseconds) {
    }
#endif
}
