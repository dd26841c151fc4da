// Features absent from some versions of CUDA's headers (12.4 to 13.x): collected here and in graph_cuda12.hpp only.
#pragma once

#include "device_model.hpp"
#include "number_in.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace cudart_cpu::detail::compat {

/// cudaGraphCondTypeSwitch, new in 12.8. A number, because the older enumeration cannot hold it.
inline constexpr int conditional_type_switch = 2;

/// cudaGraphInstantiateConditionalHandleUnused, new in 12.8.
inline constexpr auto instantiate_conditional_handle_unused = static_cast<cudaGraphInstantiateResult>(5);

/// Sets the properties that exist only in CUDA 12, or only in CUDA 13.
inline void set_properties_of_version([[maybe_unused]] cudaDeviceProp& properties) {
#if CUDART_VERSION < 13000
    properties.clockRate = clock_khz;
    properties.memoryClockRate = memory_clock_khz;
    properties.deviceOverlap = 1;
    properties.maxTexture1DLinear = static_cast<int>(max_linear_texels);
    properties.singleToDoublePrecisionPerfRatio = single_to_double_ratio;
#else
    properties.deviceNumaId = -1; // no NUMA
    properties.hostNumaId = -1;
#endif
}

/// Returns the flags of a texture's or surface's resource, new in CUDA 13.
inline unsigned flags_of([[maybe_unused]] const cudaResourceDesc& resource) {
#if CUDART_VERSION >= 13000
    return resource.flags;
#else
    return 0;
#endif
}

/// Returns the number in `params.ownership`, new in 12.9: 0 clones, 1 moves.
inline int ownership_of([[maybe_unused]] const cudaChildGraphNodeParams& params) {
#if CUDART_VERSION >= 12090
    return number_in(params.ownership);
#else
    return 0;
#endif
}

} // namespace cudart_cpu::detail::compat

#if CUDART_VERSION < 12080
using cudaLibrary_t = CUlibrary;
enum cudaJitOption : int;
enum cudaLibraryOption : int;
#endif

#if CUDART_VERSION < 13000
enum cudaLogLevel : int { cudaLogLevelError = 0 };
using cudaLogIterator = unsigned;
using cudaLogsCallbackHandle = struct CUlogsCallbackEntry_st*;
using cudaLogsCallback_t = void(CUDART_CB*)(void* data, cudaLogLevel level, char* message, std::size_t length);
#endif
