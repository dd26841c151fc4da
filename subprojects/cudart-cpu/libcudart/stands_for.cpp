// The library of NVIDIA's name for the shared runtime: it loads the CPU runtime, in which its users find CUDA's
// functions.
#include <cuda_runtime_api.h>

#include <cstdint>

/// Tells the CPU runtime that this library is no second runtime. Its value keeps the CPU runtime needed.
extern "C" __attribute__((visibility("default")))
cudaError_t (*const cudart_cpu_stands_for)(int*) = cudaRuntimeGetVersion;
