// Device variables of the conformance suite, and what reads and writes them.
#include "symbols.hpp"

__device__ int variable[variable_count];
__constant__ int factors[factor_count];

const void* variable_symbol() {
    return &variable;
}

const void* factors_symbol() {
    return &factors;
}

__global__ void scale_variable() {
    for (int i = 0; i < variable_count; ++i) {
        variable[i] *= factors[0];
    }
}

__global__ void number_variable(int first) {
    for (int i = 0; i < variable_count; ++i) {
        variable[i] = first + i;
    }
}
