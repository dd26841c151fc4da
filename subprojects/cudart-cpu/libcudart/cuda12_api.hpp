// Macros that define functions of CUDA 12 next to CUDA 13's headers, which declare the same names.
#pragma once

#include "next_runtime.hpp"
#include "runtime/same_parameters.hpp"

#include <cuda_runtime_api.h>

#if CUDART_VERSION < 13000
#error "the CPU runtime of CUDA 12's headers needs no translation"
#endif

/// Defines a function of CUDA 12. Only the assembler sees its real name.
#define CUDA12_API(name, ...)                                                                                          \
    extern "C" __attribute__((visibility("default"))) cudaError_t cuda12_##name(__VA_ARGS__) __asm__(#name);           \
    cudaError_t cuda12_##name(__VA_ARGS__)

/// Defines the variant `name`_ptsz for programs compiled for per-thread default streams. It has the `count` parameters
/// of the function of CUDA 12 defined above.
#define CUDA12_PER_THREAD(name, count)                                                                                 \
    CUDA12_API(name##_ptsz, CUDART_CPU_PARAMETERS_##count(cuda12_##name)) {                                            \
        return cuda12_##name(CUDART_CPU_ARGUMENTS_##count(cudart_cpu::detail::per_thread));                            \
    }

/// The CPU runtime's function, with the headers' parameters.
#define NEXT(name) (*cudart_cpu::detail::next<decltype(name)>(#name))

namespace cudart_cpu::detail {

/// Returns the location for CUDA 12's device number.
inline cudaMemLocation location_of(int device) {
    cudaMemLocation location{};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device;
    return location;
}

/// Replaces a default stream by the thread's own; returns other arguments unchanged.
inline cudaStream_t per_thread(cudaStream_t stream) {
    return stream == nullptr ? cudaStreamPerThread : stream;
}
template <class Argument>
Argument per_thread(Argument argument) {
    return argument;
}

} // namespace cudart_cpu::detail
