// Kernels that are never launched.
#include "kernels.hpp"

__global__ void sought() {}
__global__ void other() {}
