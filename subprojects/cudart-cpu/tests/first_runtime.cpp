// NVIDIA's runtime is linked before this one, and takes the calls: the program ends before it can launch a kernel.
#include "kernels.cuh"

#include <cudart_cpu/kernel.hpp>

#include <cstdio>

int main() {
    cudart_cpu::register_kernel(nothing);
    const cudaError_t status = cudaLaunchKernel(reinterpret_cast<const void*>(nothing), 1, 1, nullptr, 0, nullptr);
    std::printf("the launch ended with %d\n", static_cast<int>(status));
}
