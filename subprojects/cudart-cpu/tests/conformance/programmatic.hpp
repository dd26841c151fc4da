// Kernels that are joined by programmatic edges.
#pragma once

#include <cuda_runtime.h>

/// Lets its dependents start, then p[index] = value.
__global__ void trigger_then_store(int* p, int index, int value);
/// Once the kernels that it depends on have finished: to[i] = from[i] + value, for i < n.
__global__ void wait_then_copy_plus(const int* from, int* to, int n, int value);
/// The same, and then lets its dependents start.
__global__ void wait_copy_plus_trigger(const int* from, int* to, int n, int value);
/// Lets its dependents start, takes its time, then p[index] = value.
__global__ void trigger_then_store_late(int* p, int index, int value);
