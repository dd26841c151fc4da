// Kernels that find memory in several ways.
#pragma once

#include <cuda_runtime.h>

/// *out = how many elements there are from `begin` to `end`, 1000 at most.
__global__ void count_range(const int* begin, const int* end, int* out);
/// *out = *in, where the address of `in` stands in an object with other things.
struct Input {
    int number;
    const int* in;
};
__global__ void load_from(Input input, int* out);
/// The same where the address is a number.
__global__ void load_at(unsigned long long in, int* out);
