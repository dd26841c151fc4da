// Kernels that are never launched.
#include "kernels.hpp"

__global__ void sought() {}
__global__ void other() {}

__global__ void kernels::scoped(const int*, int) {}

template <class T>
__global__ void templated(T*) {}

OfInts templated_for_int() {
    return templated<int>;
}
OfFunctions templated_for_function() {
    return templated<void (*)(int)>;
}
