// A kernel that writes past the end of its buffer: only address sanitizer ends this program.
#include "check.hpp"
#include "kernels.cuh"

#include <cudart_cpu/kernel.hpp>

int main() {
    cudart_cpu::register_kernel(indices);
    void* out = nullptr;
    CHECK_OK(cudaMalloc(&out, 31 * sizeof(unsigned)));
    void* args[] = {&out};
    CHECK_OK(cudaLaunchKernel(reinterpret_cast<const void*>(indices), 1, 32, args, 0, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    CHECK_OK(cudaFree(out));
}
