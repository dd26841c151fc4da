// Occupancy: the shared memory, blocks and clusters of a kernel that fit on the device at once.
#include "kernel/kernel_attributes.hpp"
#include "kernel/kernel_registry.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/text.hpp"

#include <algorithm>

using namespace cudart_cpu::detail;

namespace {

constexpr int shared_unit = 128; // shared memory is divided into units of so many bytes

const KernelEntry& launched_kernel(const void* function) {
    return kernel_of(function, cudaErrorInvalidResourceHandle, Forms::symbol_or_kernel);
}

int threads_in(const dim3& block) {
    const std::size_t threads = std::size_t{block.x} * block.y * block.z;
    return static_cast<int>(std::min<std::size_t>(threads, std::size_t{max_threads_per_block} + 1));
}

/// Returns the number of blocks of the configuration that a multiprocessor holds.
int blocks_of(const cudaLaunchConfig_t& config) {
    return active_blocks(threads_in(config.blockDim), config.dynamicSmemBytes);
}

unsigned blocks_in(const dim3& cluster) {
    return std::max(1U, cluster.x) * std::max(1U, cluster.y) * std::max(1U, cluster.z);
}

} // namespace

CUDART_CPU_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function,
                                                                     int blocks, int block_size) {
    return api("cudaOccupancyAvailableDynamicSMemPerBlock", [&] {
        require_pointer(bytes, "dynamicSmemSize");
        const KernelEntry& kernel = launched_kernel(function);
        if (blocks <= 0 || blocks > active_blocks(block_size, 0))
            fail(cudaErrorInvalidValue, text(blocks, " blocks of ", block_size, " threads do not fit at once"));
        const int each = shared_per_multiprocessor / blocks - reserved_shared_per_block;
        *bytes = static_cast<std::size_t>(
            std::min(each / shared_unit * shared_unit, kernel.max_dynamic_shared_bytes.load()));
    });
}

CUDART_CPU_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                                const cudaLaunchConfig_t* config) {
    return api("cudaOccupancyMaxPotentialClusterSize", [&] {
        require_pointer(size, "clusterSize");
        const KernelEntry& kernel = launched_kernel(function);
        require_pointer(config, "launchConfig");
        const bool any = blocks_of(*config) > 0;
        const unsigned most = kernel.allows_large_clusters ? max_cluster_blocks : max_portable_cluster_blocks;
        *size = any ? static_cast<int>(most) : 0;
    });
}

CUDART_CPU_API cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                          const cudaLaunchConfig_t* config) {
    return api("cudaOccupancyMaxActiveClusters", [&] {
        require_pointer(clusters, "numClusters");
        const KernelEntry& kernel = launched_kernel(function);
        require_pointer(config, "launchConfig");
        if (config->numAttrs > 0) require_pointer(config->attrs, "launchConfig->attrs");
        const dim3 cluster = attributes_of(config->attrs, config->numAttrs, false).kernel.cluster;
        const unsigned blocks = blocks_in(cluster);
        const unsigned most = kernel.allows_large_clusters ? max_cluster_blocks : max_portable_cluster_blocks;
        if (blocks > most)
            fail(cudaErrorInvalidClusterSize, text("a cluster of ", blocks, " blocks is more than ", most));
        *clusters = multiprocessors() * blocks_of(*config) / static_cast<int>(blocks);
    });
}
