// The kernels that the benchmarks put into their nodes.
#pragma once

#include <cuda_runtime.h>

/// Does next to nothing: what is measured is the cost around it.
__global__ void touch(float* values, int index, float amount, unsigned count);

/// Ends when the host has opened `gate`: it is not 0 any more.
__global__ void wait_for(const volatile int* gate);

/// Takes that long on a GPU; nothing more than a launch for 0.
__global__ void spin(unsigned nanoseconds);
