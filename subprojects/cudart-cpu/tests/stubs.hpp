// Kernels in many forms, compiled as C++: stubs.cpp launches them.
#pragma once

#include <cuda_runtime.h>

struct Three {
    int values[3];
};

namespace forms {
__global__ void overloaded(int* to);
__global__ void overloaded(int* to, Three three, const int n);
extern "C" __global__ void unnamed(int*, unsigned, const Three, Three, int* const, struct Three, float4, short);
} // namespace forms
__global__ void qualified(const int* __restrict__ from, int* __restrict__ to, int many[4], void (*call)(int*));
__global__ void bounded(int* to, int n) noexcept;
__global__ void made_by_macro(int* to, int value);
extern __device__ int variable;

/// What a kernel of internal linkage is known by.
void* internal_kernel();
void* instance_of_template();
