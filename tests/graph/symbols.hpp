// Device variables of the graph tests, and what reads and writes them.
#pragma once

#include <cuda_runtime.h>

#include <cudag/symbol.hpp>

/// cudag::symbol of `__device__ int total`, `__device__ int table[2][3]` and `__constant__ float factors[2]`.
cudag::DeviceSpan<int> total_symbol();
cudag::DeviceSpan<int> table_symbol();
cudag::DeviceSpan<float> factors_symbol();

/// total = the sum of table
__global__ void add_table();
/// out[i] = factors[i]
__global__ void read_factors(float* out);
