// Kernels for the speed of nvcc's kernels on the CPU runtime, and the same work as loops of C++.
#pragma once

#include <cuda_runtime.h>

/// y[i] = a * x[i] + y[i]
__global__ void add_scaled(int n, float a, const float* x, float* y);
void add_scaled_in_loops(int n, float a, const float* x, float* y);

/// c = a * b, of n rows and columns.
__global__ void multiply(int n, const float* a, const float* b, float* c);
void multiply_in_loops(int n, const float* a, const float* b, float* c);

/// After how many steps z = z^2 + c leaves the circle of radius 2; a picture of n rows and columns.
__global__ void escape(int n, int limit, int* steps);
void escape_in_loops(int n, int limit, int* steps);

/// Meets at `count` barriers.
__global__ void meet(int count, int* out);
