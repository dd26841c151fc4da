// Kernels that fail, compiled as C++.
#pragma once

#include <cuda_runtime.h>

__global__ void missing_memory(int* out);
__global__ void no_address(long long bits);
__global__ void asserted(int limit);
__global__ void trapped();
__global__ void ends_all();
__global__ void divided(int* out, int by);
__global__ void recursive(int* out, int depth);
__global__ void thrown(int size);
__global__ void no_instruction();
__global__ void fine(int* out);
