// Device variables of the graph tests.
#include "symbols.hpp"

__device__ int total;
__device__ int table[2][3];
__constant__ float factors[2];

cudag::DeviceSpan<int> total_symbol() {
    return cudag::symbol(total);
}
cudag::DeviceSpan<int> table_symbol() {
    return cudag::symbol(table);
}
cudag::DeviceSpan<float> factors_symbol() {
    return cudag::symbol(factors);
}

__global__ void add_table() {
    total = 0;
    for (int i = 0; i < 6; ++i)
        total += table[i / 3][i % 3];
}

__global__ void read_factors(float* out) {
    for (int i = 0; i < 2; ++i)
        out[i] = factors[i];
}
