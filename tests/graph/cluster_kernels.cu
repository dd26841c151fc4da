// Kernels that look at their cluster.
#include "cluster_kernels.hpp"

namespace {

__device__ void write_cluster(unsigned* blocks) {
    unsigned count = 1;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(count));
#endif
    if (blockIdx.x == 0 && threadIdx.x == 0) *blocks = count;
}

} // namespace

__global__ void see_cluster(unsigned* blocks) {
    write_cluster(blocks);
}

#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
__global__ void __cluster_dims__(4, 1, 1) see_cluster_of_4(unsigned* blocks) {
#else
__global__ void see_cluster_of_4(unsigned* blocks) {
#endif
    write_cluster(blocks);
}
