// Kernels that are never launched.
#pragma once

#include <cuda_runtime.h>

__global__ void sought();
__global__ void other();

namespace kernels {
__global__ void scoped(const int* cells, int count);
}

/// A template's kernels, which nvcc lets no other source name.
using OfInts = void (*)(int*);
[[nodiscard]] OfInts templated_for_int();
using OfFunctions = void (*)(void (**)(int));
[[nodiscard]] OfFunctions templated_for_function();
