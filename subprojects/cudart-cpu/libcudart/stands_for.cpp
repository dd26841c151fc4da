// The library with the name of NVIDIA's shared runtime.
// It loads the CPU runtime, which provides CUDA's functions to its users.
#include <cuda_runtime_api.h>

#include <cstdint>

/// Marks this library as no second runtime, for the CPU runtime. Its value makes the CPU runtime a needed library.
extern "C" __attribute__((visibility("default")))
cudaError_t (*const cudart_cpu_stands_for)(int*) = cudaRuntimeGetVersion;
