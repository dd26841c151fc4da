// Device variables of the conformance suite, and what reads and writes them.
#pragma once

#include <cuda_runtime.h>

inline constexpr int variable_count = 8;
inline constexpr int factor_count = 2;

/// The symbols, as CUDA's functions take them: of `__device__ int variable[variable_count]` and of
/// `__constant__ int factors[factor_count]`.
const void* variable_symbol();
const void* factors_symbol();

/// variable[i] *= factors[0], for every i.
__global__ void scale_variable();
/// variable[i] = first + i, for every i.
__global__ void number_variable(int first);
