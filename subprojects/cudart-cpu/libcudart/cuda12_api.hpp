// How the functions of CUDA 12 are defined beside the headers of CUDA 13, which have the same names.
#pragma once

#include "next_runtime.hpp"
#include "runtime/same_parameters.hpp"

#include <cuda_runtime_api.h>

#if CUDART_VERSION < 13000
#error "the CPU runtime of CUDA 12's headers needs no translation"
#endif

/// The name of the function is given to the assembler alone.
#define CUDA12_API(name, ...)                                                                                          \
    extern "C" __attribute__((visibility("default"))) cudaError_t cuda12_##name(__VA_ARGS__) __asm__(#name);           \
    cudaError_t cuda12_##name(__VA_ARGS__)

/// The same for a program that was compiled for per-thread default streams: `name`_ptsz, with the `count` parameters of
/// the function of CUDA 12 that is defined above.
#define CUDA12_PER_THREAD(name, count)                                                                                 \
    CUDA12_API(name##_ptsz, CUDART_CPU_PARAMETERS_##count(cuda12_##name)) {                                            \
        return cuda12_##name(CUDART_CPU_ARGUMENTS_##count(cudart_cpu::detail::per_thread));                            \
    }

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

/// A default stream is the thread's own; other arguments stay as they are.
inline cudaStream_t per_thread(cudaStream_t stream) {
    return stream == nullptr ? cudaStreamPerThread : stream;
}
template <class Argument>
Argument per_thread(Argument argument) {
    return argument;
}

} // namespace cudart_cpu::detail
