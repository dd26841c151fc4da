// CUDA's statistics of graph memory.
#include <cudag/graph_memory.hpp>

#include "cuda/failure.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace cudag {

namespace {

std::size_t attribute(int device, cudaGraphMemAttributeType name) {
    std::uint64_t value = 0;
    detail::checked(cudaDeviceGetGraphMemAttribute(device, name, &value), "cudaDeviceGetGraphMemAttribute");
    return static_cast<std::size_t>(value);
}

void reset(int device, cudaGraphMemAttributeType name) {
    std::uint64_t zero = 0; // the only value accepted by CUDA
    detail::checked(cudaDeviceSetGraphMemAttribute(device, name, &zero), "cudaDeviceSetGraphMemAttribute");
}

} // namespace

GraphMemory graph_memory(int device) {
    return {attribute(device, cudaGraphMemAttrUsedMemCurrent), attribute(device, cudaGraphMemAttrUsedMemHigh),
            attribute(device, cudaGraphMemAttrReservedMemCurrent), attribute(device, cudaGraphMemAttrReservedMemHigh)};
}

void reset_graph_memory_high(int device) {
    reset(device, cudaGraphMemAttrUsedMemHigh);
    reset(device, cudaGraphMemAttrReservedMemHigh);
}

void trim_graph_memory(int device) {
    detail::checked(cudaDeviceGraphMemTrim(device), "cudaDeviceGraphMemTrim");
}

} // namespace cudag
