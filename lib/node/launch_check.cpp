// Diagnosis of a launch, by the limits of the device.
#include "launch_check.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>

namespace cudag::detail {

namespace {

/// The device attribute; the maximum if CUDA does not report it, so that nothing exceeds it.
int attribute(cudaDeviceAttr name) {
    int device = 0;
    int value = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) status = cudaDeviceGetAttribute(&value, name, device);
    ignore(status);
    return status == cudaSuccess ? value : std::numeric_limits<int>::max();
}

struct Dimension {
    const char* name;
    unsigned value;
    cudaDeviceAttr limit;
};

} // namespace

std::string broken_limit(const LaunchConfig& config, const void* symbol) {
    const std::array dimensions{
        Dimension{"grid.x", config.grid.x, cudaDevAttrMaxGridDimX},
        Dimension{"grid.y", config.grid.y, cudaDevAttrMaxGridDimY},
        Dimension{"grid.z", config.grid.z, cudaDevAttrMaxGridDimZ},
        Dimension{"block.x", config.block.x, cudaDevAttrMaxBlockDimX},
        Dimension{"block.y", config.block.y, cudaDevAttrMaxBlockDimY},
        Dimension{"block.z", config.block.z, cudaDevAttrMaxBlockDimZ},
    };
    for (const Dimension& dimension : dimensions) {
        if (dimension.value == 0)
            return fmt::format("{} is 0; every {} dimension must be at least 1", dimension.name,
                               dimension.name[0] == 'g' ? "grid" : "block");
        if (const int limit = attribute(dimension.limit); dimension.value > static_cast<unsigned>(limit))
            return fmt::format("{} is {}; this device allows {}", dimension.name, dimension.value, limit);
    }
    cudaFuncAttributes function{};
    const cudaError_t status = symbol == nullptr ? cudaErrorInvalidValue : cudaFuncGetAttributes(&function, symbol);
    const bool known = status == cudaSuccess;
    if (symbol != nullptr) ignore(status);
    const int threads_limit = known ? function.maxThreadsPerBlock : attribute(cudaDevAttrMaxThreadsPerBlock);
    const std::uint64_t threads = std::uint64_t{config.block.x} * config.block.y * config.block.z;
    if (threads > static_cast<std::uint64_t>(threads_limit))
        return fmt::format("a block of {} x {} x {} has {} threads; {} allows {}", config.block.x, config.block.y,
                           config.block.z, threads, known ? "this kernel" : "this device", threads_limit);
    if (known && config.shared_bytes > static_cast<std::size_t>(function.maxDynamicSharedSizeBytes))
        return fmt::format("{} bytes of dynamic shared memory; this kernel allows {}: raise its limit with "
                           "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ...)",
                           config.shared_bytes, function.maxDynamicSharedSizeBytes);
    return {};
}

} // namespace cudag::detail
