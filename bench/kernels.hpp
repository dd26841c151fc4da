// The kernels that the benchmarks put into their nodes.
#pragma once

#include <cuda_runtime.h>

/// Does next to nothing: what is measured is the cost around it.
__global__ void touch(float* values, int index, float amount, unsigned count);

/// Ends when the host has opened `gate`: it is not 0 any more.
__global__ void wait_for(const volatile int* gate);

/// What `combine` makes of what it reads.
inline __host__ __device__ unsigned combined(unsigned a, unsigned b, unsigned c, unsigned salt) {
    return (((salt * 16777619U ^ a) * 16777619U ^ b) * 16777619U ^ c) * 16777619U;
}

/// Writes what is combined of three cells, a null one being 0, and of `salt` times its blocks.
__global__ void combine(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, unsigned salt);
/// The same, after a wait for the kernels before.
__global__ void wait_and_combine(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, unsigned salt);
/// The same of other work: `salt` plus 1.
__global__ void combine_otherwise(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out,
                                  unsigned salt);

/// Takes that long on a GPU; nothing more than a launch for 0.
__global__ void spin(unsigned nanoseconds);
