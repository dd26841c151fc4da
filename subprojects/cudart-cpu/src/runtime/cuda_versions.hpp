// What the headers of some versions of CUDA (12.4 to 13.x) lack: beside graph_cuda12.hpp, the one place that says so.
#pragma once

#include "device_model.hpp"
#include "number_in.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace cudart_cpu::detail::compat {

/// cudaGraphCondTypeSwitch, which 12.8 brought. A number, because the older enumeration cannot hold it.
inline constexpr int conditional_type_switch = 2;

/// cudaGraphInstantiateConditionalHandleUnused, which 12.8 brought.
inline constexpr auto instantiate_conditional_handle_unused = static_cast<cudaGraphInstantiateResult>(5);

/// The properties that only CUDA 12 has, or only CUDA 13.
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

/// The flags of a texture's or surface's resource, which CUDA 13 brought.
inline unsigned flags_of([[maybe_unused]] const cudaResourceDesc& resource) {
#if CUDART_VERSION >= 13000
    return resource.flags;
#else
    return 0;
#endif
}

/// The number in `params.ownership`, which 12.9 brought: 0 clones, 1 moves.
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
