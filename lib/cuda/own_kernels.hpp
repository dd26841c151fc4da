// cudag's own kernels, loaded on first use: PTX text, because cudag is compiled without nvcc.
#pragma once

#include <cuda_runtime_api.h>

namespace cudag::detail {

/// Loads the kernel `name` of `ptx` for all devices, until the process ends. Throws GraphError. Needs CUDA 12.8.
[[nodiscard]] cudaKernel_t load_kernel(const char* ptx, const char* name);

/// The kernel `__global__ void cudag_nothing()`.
[[nodiscard]] cudaKernel_t nothing_kernel();

} // namespace cudag::detail
