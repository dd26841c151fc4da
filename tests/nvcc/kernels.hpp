// Kernels that only nvcc can compile, declared for C++ too.
#pragma once

#include <cuda_runtime.h>

namespace nvcc_tests {

/// The sum of each block's values. Blocks have 256 threads, or fewer whole warps.
__global__ void block_sums(const int* values, int* sums, int n);

/// out[i] = values[n - 1 - i], through dynamic shared memory: one block of n threads.
__global__ void reversed(const int* values, int* out, int n);

/// Launches block_sums and reversed in `stream` as existing code does.
void sums_then_reversed(const int* values, int* sums, int* out, int n, cudaStream_t stream);

} // namespace nvcc_tests
