// The kernels of a shared object that is loaded as a library.
#include <cudart_cpu/library.hpp>

namespace {

int calls = 0;

} // namespace

extern "C" __global__ void scale(float factor, float* x) {
    x[threadIdx.x] *= factor;
}

/// Counts its calls in this copy of the library.
__global__ void count(int* to) {
    *to = ++calls;
}

static const cudart_cpu::LibraryKernels kernels(scale); // the other one is known by its definition
