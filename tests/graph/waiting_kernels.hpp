// Kernels at the end of an early edge.
#pragma once

#include <cuda_runtime.h>

/// *to = *from + value, once the kernels before have finished.
__global__ void wait_and_add(int* to, const int* from, int value);
/// The same; what follows may start meanwhile.
__global__ void let_next_start_then_add(int* to, const int* from, int value);
