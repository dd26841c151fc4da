// The kernels of these tests.
#pragma once

#include <cuda_runtime.h>

struct Affine {
    double factor;
    char offset;
};

__global__ void apply(int* out, Affine map, unsigned char scale, int n);
__global__ void indices(unsigned* out);
__global__ void sums(int* i, unsigned* u, unsigned long long* l, float* f, double* d, int* largest);
__global__ void math(float* out, const float* in);
__global__ void nothing();
__global__ void produce(int* cell, int value);
/// *seen = *cell: without waiting for the producer, or after it.
__global__ void consume_at_once(int* seen, const int* cell);
__global__ void consume_after_wait(int* seen, const int* cell);
