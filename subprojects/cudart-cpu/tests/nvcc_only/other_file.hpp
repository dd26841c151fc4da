// Kernels that one file defines and another one launches.
#pragma once

#include <cuda_runtime.h>

struct Line {
    int factor;
    int offset;
    char unused[40];
};

__global__ void fill(int* values, int n);
namespace lines {
__global__ void apply(int* values, Line line, const unsigned n);
__global__ void apply(int* values, int* const, unsigned char, short offset);
} // namespace lines
extern "C" __global__ void count(int* counter);
