// Kernels that set conditions.
#include "conditional_kernels.hpp"

__global__ void set_condition(cudag::Condition condition, unsigned value) {
    condition.set(value);
}

__global__ void set_from(cudag::Condition condition, const int* cell) {
    condition.set(static_cast<unsigned>(*cell));
}

__global__ void count_down(int* cell, cudag::Condition condition) {
    --*cell;
    condition.set(*cell > 0 ? 1 : 0);
}

__global__ void count_down_raw(int* cell, cudaGraphConditionalHandle condition) {
    --*cell;
    cudaGraphSetConditional(condition, *cell > 0 ? 1 : 0);
}

__global__ void set_two_raw(cudaGraphConditionalHandle first, cudaGraphConditionalHandle second, unsigned value) {
    cudaGraphSetConditional(first, value);
    cudaGraphSetConditional(second, value);
}

__global__ void count_down_with(Counter counter) {
    --*counter.cell;
    counter.condition.set(*counter.cell > 0 ? 1 : 0);
}

__global__ void write_condition(unsigned long long* out, cudag::Condition condition) {
    *out = condition.native();
}

__global__ void set_condition_of(ConditionOnly object, unsigned value) {
    object.condition.set(value);
}
