// Kernels at the end of an early edge.
#include "waiting_kernels.hpp"

__global__ void wait_and_add(int* to, const int* from, int value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 // older devices have no early edges
    cudaGridDependencySynchronize();
#endif
    *to = *from + value;
}
