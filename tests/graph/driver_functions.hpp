// Functions of the driver, fetched from the runtime.
#pragma once

#include <cuda_runtime_api.h>

/// Returns the driver's function `name`, as of CUDA `version`; null if the driver lacks it.
inline void* driver_function(const char* name, [[maybe_unused]] unsigned version) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
    const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
#else
    const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
    if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
    return status == cudaSuccess && found == cudaDriverEntryPointSuccess ? function : nullptr;
}
