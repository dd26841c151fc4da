// How the functions of CUDA 12 are defined beside the headers of CUDA 13, which have the same names.
#pragma once

#include "next_runtime.hpp"

#include <cuda_runtime_api.h>

#if CUDART_VERSION < 13000
#error "the CPU runtime of CUDA 12's headers needs no translation"
#endif

/// The name of the function is given to the assembler alone.
#define CUDA12_API(name, ...)                                                                                          \
    extern "C" __attribute__((visibility("default"))) cudaError_t cuda12_##name(__VA_ARGS__) __asm__(#name);           \
    cudaError_t cuda12_##name(__VA_ARGS__)

/// Calls the CPU runtime's function, which has the headers' parameters.
#define NEXT(name) (*cudart_cpu::detail::next<decltype(name)>(#name))

namespace cudart_cpu::detail {

/// Of a location that CUDA 12 names by a device's number.
inline cudaMemLocation location_of(int device) {
    cudaMemLocation location{};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device;
    return location;
}

} // namespace cudart_cpu::detail
