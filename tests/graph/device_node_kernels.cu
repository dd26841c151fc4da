// Kernels that change other kernel nodes.
#include "device_node_kernels.hpp"

namespace {

__device__ void note(cudaError_t status, unsigned* failures) {
    if (status != cudaSuccess) atomicAdd(failures, 1U);
}

} // namespace

__global__ void plan(CountNode node, const unsigned* blocks, unsigned weight, unsigned* failures) {
    note(node.set_enabled(*blocks != 0), failures);
    if (*blocks != 0) note(node.set_grid(dim3(*blocks)), failures);
    note(node.set_argument<2>(weight), failures);
}

__global__ void redirect(CountNode node, unsigned* count, unsigned* failures) {
    note(node.set_argument<0>(count), failures);
}
