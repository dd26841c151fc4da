// Kernels that are never launched.
#include "kernels.hpp"

__global__ void sought() {}
__global__ void other() {}

__global__ void kernels::scoped(const int*, int) {}

template <class T>
__global__ void templated(T*) {}
template __global__ void templated(int*);
template __global__ void templated(void (**)(int));
