// A kernel of a library, with threads that meet.
#include "scale.h"

__global__ void reverse_scaled(int* out, const int* in, int factor) {
    __shared__ int block[32];
    block[threadIdx.x] = in[threadIdx.x] * factor;
    __syncthreads();
    out[threadIdx.x] = block[31 - threadIdx.x];
}

void scale(int* out, const int* in, int factor) {
    reverse_scaled<<<1, 32>>>(out, in, factor);
}
