// Kernels that change the graph that they run in.
#include "graph_kernels.hpp"

__global__ void set_condition(cudaGraphConditionalHandle handle, unsigned value) {
    cudaGraphSetConditional(handle, value);
}

__global__ void count_down(int* p, cudaGraphConditionalHandle handle) {
    --*p;
    cudaGraphSetConditional(handle, *p > 0);
}
