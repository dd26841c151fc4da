// A kernel that nothing can run.
#pragma once

#include <cuda_runtime.h>

__global__ void touch(int* x);
