// The kernels of the tests of conditionals. All of them are for one thread.
#pragma once

#include <cudag/condition.hpp>

#include <cuda_runtime.h>

__global__ void set_condition(cudag::Condition condition, unsigned value);
/// The condition becomes *cell.
__global__ void set_from(cudag::Condition condition, const int* cell);
/// Takes 1 from *cell; the condition becomes whether there is more.
__global__ void count_down(int* cell, cudag::Condition condition);
/// Both conditions become `value`.
__global__ void set_two_raw(cudaGraphConditionalHandle first, cudaGraphConditionalHandle second, unsigned value);
/// As count_down, with CUDA's handle, and with both in an object.
__global__ void count_down_raw(int* cell, cudaGraphConditionalHandle condition);
struct Counter {
    char name;
    cudag::Condition condition;
    int* cell;
};
__global__ void count_down_with(Counter counter);
/// As set_condition, with the condition alone in an object.
struct ConditionOnly {
    cudag::Condition condition;
};
__global__ void set_condition_of(ConditionOnly object, unsigned value);
/// CUDA's number of the condition.
__global__ void write_condition(unsigned long long* out, cudag::Condition condition);
