// The kernels of the conformance suite.
#pragma once

#include <cuda_runtime.h>

struct Triple {
    float x, y, z;
};

__global__ void nothing();
/// p[index] = value, by every thread.
__global__ void store(int* p, int index, int value);
/// p[index] += value, by every thread, atomically.
__global__ void add(int* p, int index, int value);
/// to[i] = from[i] + value, for i < n.
__global__ void copy_plus(const int* from, int* to, int n, int value);
/// p[i] = linear index of the block that thread i of the whole grid is in; the grid and block may have three
/// dimensions.
__global__ void write_block_index(int* p);
/// Writes its other arguments to out[0] to out[8], one number each.
__global__ void write_arguments(double* out, char a, short b, int c, long long d, float e, double f, Triple g);
