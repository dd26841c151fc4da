// Kernels that are never launched.
#pragma once

#include <cuda_runtime.h>

__global__ void sought();
__global__ void other();

namespace kernels {
__global__ void scoped(const int* cells, int count);
}

template <class T>
__global__ void templated(T* cell);
