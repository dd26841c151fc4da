// CUDA 12's layout of cudaDeviceProp.
#pragma once

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

/// Writes the properties to `where`, in CUDA 12's layout.
void write_cuda12_properties(void* where, const cudaDeviceProp& properties);

} // namespace cudart_cpu::detail
