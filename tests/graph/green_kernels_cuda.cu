// Kernels that tell where they ran.
#include "green_kernels.hpp"

__global__ void note_multiprocessors(int* greatest) {
    unsigned number = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    if (threadIdx.x == 0) atomicMax(greatest, static_cast<int>(number));
#if __CUDA_ARCH__ >= 700
    for (int i = 0; i < 200; ++i)
        __nanosleep(100);
#endif
}

__global__ void mark_multiprocessor(int* seen) {
    unsigned number = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    if (threadIdx.x == 0) seen[number] = 1;
#if __CUDA_ARCH__ >= 700
    for (int i = 0; i < 200; ++i)
        __nanosleep(100);
#endif
}
