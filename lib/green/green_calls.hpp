// The driver's functions for green contexts.
#pragma once

#include <cuda.h>

namespace cudag::detail {

struct GreenCalls {
    CUresult(CUDAAPI* device_resource)(CUdevice, CUdevResource*, CUdevResourceType);
    CUresult(CUDAAPI* split)(CUdevResource*, unsigned*, const CUdevResource*, CUdevResource*, unsigned, unsigned);
    CUresult(CUDAAPI* describe)(CUdevResourceDesc*, CUdevResource*, unsigned);
    CUresult(CUDAAPI* create)(CUgreenCtx*, CUdevResourceDesc, CUdevice, unsigned);
    CUresult(CUDAAPI* destroy)(CUgreenCtx);
    CUresult(CUDAAPI* convert)(CUcontext*, CUgreenCtx);
};

/// Throws Error if the driver has no green contexts.
[[nodiscard]] const GreenCalls& green_calls();

/// Throws Error if the driver is older than `needed`; `feature` begins the message.
void require_green_driver(int needed, const char* feature);

using GreenStreamCreate = CUresult(CUDAAPI*)(CUstream*, CUgreenCtx, unsigned, int);
/// Throws Error if the driver has no streams of green contexts.
[[nodiscard]] GreenStreamCreate green_stream_create();

} // namespace cudag::detail
