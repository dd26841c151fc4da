// cudaProfilerStart and cudaProfilerStop: marks for a profiler; there is none.
#include "runtime/call.hpp"

#include <cuda_profiler_api.h>

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaProfilerStart() {
    return api("cudaProfilerStart", [] {});
}

CUDART_CPU_API cudaError_t cudaProfilerStop() {
    return api("cudaProfilerStop", [] {});
}
