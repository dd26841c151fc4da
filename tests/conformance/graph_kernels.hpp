// Kernels that change the graph that they run in.
#pragma once

#include <cuda_runtime.h>

/// The condition's value = value.
__global__ void set_condition(cudaGraphConditionalHandle handle, unsigned value);
/// --*p, and the condition's value = *p > 0.
__global__ void count_down(int* p, cudaGraphConditionalHandle handle);
