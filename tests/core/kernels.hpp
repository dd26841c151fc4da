// Kernels that are never launched.
#pragma once

#include <cuda_runtime.h>

__global__ void sought();
__global__ void other();
