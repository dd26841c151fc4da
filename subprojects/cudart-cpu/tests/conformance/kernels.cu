// The kernels of the conformance suite.
#include "kernels.hpp"

__global__ void nothing() {}

__global__ void store(int* p, int index, int value) {
    p[index] = value;
}

__global__ void add(int* p, int index, int value) {
    atomicAdd(&p[index], value);
}

__global__ void copy_plus(const int* from, int* to, int n, int value) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < static_cast<unsigned>(n)) {
        to[i] = from[i] + value;
    }
}

__global__ void write_block_index(int* p) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    p[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = static_cast<int>(block);
}

__global__ void write_arguments(double* out, char a, short b, int c, long long d, float e, double f, Triple g) {
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = static_cast<double>(d);
    out[4] = static_cast<double>(e);
    out[5] = f;
    out[6] = static_cast<double>(g.x);
    out[7] = static_cast<double>(g.y);
    out[8] = static_cast<double>(g.z);
}
