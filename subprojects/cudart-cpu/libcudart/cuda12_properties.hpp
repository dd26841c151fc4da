// cudaDeviceProp as CUDA 12 has it.
#pragma once

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

/// Writes the properties where a program of CUDA 12 has its cudaDeviceProp.
void write_cuda12_properties(void* where, const cudaDeviceProp& properties);

} // namespace cudart_cpu::detail
