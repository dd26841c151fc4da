// Checks of launch attributes against device and kernel, since CUDA only reports "invalid argument".
#include "attribute_check.hpp"

#include "cuda/compat.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "kernel.hpp"
#include "launch_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

namespace cudag::detail {

namespace {

/// Returns nothing if CUDA does not report the attribute.
std::optional<int> device_attribute(cudaDeviceAttr name) {
    int device = 0;
    int value = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) status = cudaDeviceGetAttribute(&value, name, device);
    ignore(status);
    return status == cudaSuccess ? std::optional(value) : std::nullopt;
}

std::optional<cudaFuncAttributes> function_attributes(const void* symbol) {
    if (symbol == nullptr) return std::nullopt;
    cudaFuncAttributes attributes{};
    const cudaError_t status = cudaFuncGetAttributes(&attributes, symbol);
    ignore(status);
    return status == cudaSuccess ? std::optional(attributes) : std::nullopt;
}

/// The most blocks in a cluster of the kernel on this device. CUDA accepts larger clusters in a node, and fails later.
std::optional<int> largest_cluster(const LaunchConfig& config, const void* symbol) {
    void* address = nullptr;
    const cudaError_t fetched = compat::driver_entry_point("cuOccupancyMaxPotentialClusterSize", 12040, &address);
    cudaFunction_t function = nullptr;
    const cudaError_t found = cudaGetFuncBySymbol(&function, symbol);
    ignore(fetched);
    ignore(found);
    if (address == nullptr || found != cudaSuccess) return std::nullopt;
    CUlaunchConfig launch{};
    put_shape(shape_of(config), launch);
    int blocks = 0; // stays 0 if CUDA does not report it
    const auto ask = reinterpret_cast<decltype(&::cuOccupancyMaxPotentialClusterSize)>(address);
    static_cast<void>(ask(&blocks, function, &launch));
    return blocks > 0 ? std::optional(blocks) : std::nullopt;
}

constexpr std::uint64_t portable_blocks = 8; // CUDA Programming Guide, thread block clusters

struct Axis {
    char name;
    unsigned preferred;
    unsigned cluster;
    unsigned grid;
};

std::array<Axis, 3> axes_of(const LaunchConfig& config) {
    const auto& [grid, preferred, cluster] = std::tie(config.grid, config.preferred_cluster, config.cluster);
    return {Axis{'x', preferred.x, cluster.x, grid.x}, Axis{'y', preferred.y, cluster.y, grid.y},
            Axis{'z', preferred.z, cluster.z, grid.z}};
}

std::string too_many_blocks(const dim3& cluster, std::uint64_t blocks, const std::string& who, std::uint64_t limit) {
    return fmt::format("a cluster of {} x {} x {} has {} blocks; {} {}", cluster.x, cluster.y, cluster.z, blocks, who,
                       limit);
}

} // namespace

std::string broken_cluster(const LaunchConfig& config, const void* symbol) {
    const dim3& cluster = config.cluster;
    if (device_attribute(cudaDevAttrClusterLaunch) == 0)
        return "cluster: this device has no thread block clusters (compute capability 9.0 or later); leave it out";
    for (const Axis& axis : axes_of(config)) {
        if (axis.cluster == 0)
            return fmt::format("cluster.{} is 0; every cluster dimension must be at least 1; (1, 1, 1) means none",
                               axis.name);
        if (axis.grid % axis.cluster != 0)
            return fmt::format("grid.{} is {}, no multiple of cluster.{}, which is {}; add blocks to the grid and let "
                               "them idle, or make the cluster smaller",
                               axis.name, axis.grid, axis.name, axis.cluster);
    }
    const std::uint64_t blocks = std::uint64_t{cluster.x} * cluster.y * cluster.z;
    if (blocks <= portable_blocks) return {};
    if (config.portable_cluster_size_mode == PortableClusterMode::require_portable)
        return too_many_blocks(cluster, blocks, "every device with clusters runs", portable_blocks) +
               " together, and portable_cluster_size_mode is require_portable";
    const auto function = function_attributes(symbol);
    if (!function) return {};
    if (function->nonPortableClusterSizeAllowed != 0) {
        const auto limit = largest_cluster(config, symbol);
        if (!limit || blocks <= static_cast<std::uint64_t>(*limit)) return {};
        return too_many_blocks(cluster, blocks, "this device runs up to", static_cast<std::uint64_t>(*limit)) +
               " of this kernel together";
    }
    // CUDA reports the limit of a kernel by the kernel's own attribute.
    if (config.portable_cluster_size_mode == PortableClusterMode::allow_non_portable) return {};
    return too_many_blocks(cluster, blocks, "this kernel allows", portable_blocks) +
           ": raise its limit with cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1)";
}

std::string broken_preferred_cluster(const LaunchConfig& config, const void* /*symbol*/) {
    if (is_given(config.cluster) == 0)
        return "preferred_cluster: set cluster, too; preferred_cluster must be a multiple of it";
    for (const Axis& axis : axes_of(config)) {
        if (axis.preferred == 0)
            return fmt::format(
                "preferred_cluster.{} is 0; every cluster dimension must be at least 1; (1, 1, 1) means none",
                axis.name);
        if (axis.preferred % axis.cluster != 0)
            return fmt::format("preferred_cluster.{} is {}, no multiple of cluster.{}, which is {}", axis.name,
                               axis.preferred, axis.name, axis.cluster);
        if (axis.grid % axis.preferred != 0)
            return fmt::format("grid.{} is {}, no multiple of preferred_cluster.{}, which is {}", axis.name, axis.grid,
                               axis.name, axis.preferred);
        if (axis.name == 'z' && axis.preferred != axis.cluster)
            return fmt::format("preferred_cluster.z is {}, cluster.z is {}; CUDA takes multiples in x and y only",
                               axis.preferred, axis.cluster);
    }
    return {};
}

/// Since CUDA 13.3 the driver reports whether kernels can update a kernel's nodes.
std::string broken_device_update(const LaunchConfig& /*config*/, const void* symbol) {
    constexpr auto is_supported = static_cast<CUfunction_attribute>(16); // older headers lack its name
    int version = 0;
    cudaFunction_t function = nullptr;
    const cudaError_t asked = cudaDriverGetVersion(&version);
    ignore(asked);
    if (symbol == nullptr || asked != cudaSuccess || version < 13030) return {};
    const cudaError_t found = cudaGetFuncBySymbol(&function, symbol);
    ignore(found);
    int supported = 0;
    if (found != cudaSuccess || driver().func_get_attribute(&supported, is_supported, function) != CUDA_SUCCESS ||
        supported != 0)
        return {};
    return "device_updatable: CUDA reports that other kernels cannot update this one on the device; leave it out";
}

std::string broken_shared_memory_mode(const LaunchConfig& config, const void* /*symbol*/) {
    if (config.shared_memory_mode != SharedMemoryMode::require_portable) return {};
    const auto limit = device_attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    if (!limit || config.shared_bytes <= static_cast<std::size_t>(*limit)) return {};
    return fmt::format("{} bytes of dynamic shared memory; every device gives {}, and shared_memory_mode is "
                       "require_portable",
                       config.shared_bytes, *limit);
}

std::string broken_cooperation(const LaunchConfig& config, const void* symbol) {
    if (device_attribute(cudaDevAttrCooperativeLaunch) == 0)
        return "cooperative: this device does not support cooperative launches; leave it out";
    const auto multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
    const std::uint64_t threads = std::uint64_t{config.block.x} * config.block.y * config.block.z;
    if (symbol == nullptr || !multiprocessors) return {};
    int blocks_each = 0; // stays 0 if CUDA does not report it
    ignore(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, symbol, static_cast<int>(threads),
                                                         config.shared_bytes));
    if (blocks_each == 0) return {}; // such a block is rejected without cooperation, too
    const std::uint64_t blocks = std::uint64_t{config.grid.x} * config.grid.y * config.grid.z;
    const std::uint64_t resident =
        static_cast<std::uint64_t>(blocks_each) * static_cast<std::uint64_t>(*multiprocessors);
    if (blocks <= resident) return {};
    return fmt::format("a cooperative grid of {} blocks; all must run at once, and this device runs {} of this kernel: "
                       "{} on each of {} multiprocessors; use fewer blocks and a grid-stride loop",
                       blocks, resident, blocks_each, *multiprocessors);
}

std::string broken_priority(const LaunchConfig& config, const void* /*symbol*/) {
    int least = 0;
    int greatest = 0;
    const cudaError_t status = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    ignore(status);
    if (status != cudaSuccess || (*config.priority >= greatest && *config.priority <= least)) return {};
    return fmt::format("priority is {}; this device allows {}, which goes first, to {}", *config.priority, greatest,
                       least);
}

std::string broken_domain_map(const LaunchConfig& config, const void* /*symbol*/) {
    const MemorySyncDomainMap& map = *config.memory_sync_domain_map;
    const auto count = device_attribute(cudaDevAttrMemSyncDomainCount);
    const int highest = std::max(map.default_domain, map.remote);
    if (!count || highest < *count) return {};
    return fmt::format("memory_sync_domain_map: domain {}; this device has {}, the first of which is 0", highest,
                       *count);
}

std::string broken_policy(const LaunchConfig& config, const void* /*symbol*/) {
    const AccessPolicy& policy = *config.access_policy;
    if (policy.memory.empty() || policy.memory.data() == nullptr)
        return "access_policy: the memory is empty; leave the policy out, or give as_bytes(span)";
    if (!(policy.hit_ratio >= 0.0F && policy.hit_ratio <= 1.0F))
        return fmt::format("access_policy: hit_ratio is {:g}; it must be from 0 to 1", policy.hit_ratio);
    if (policy.miss == AccessProperty::persisting)
        return "access_policy: miss is persisting; CUDA allows normal and streaming there";
    const auto limit = device_attribute(cudaDevAttrMaxAccessPolicyWindowSize);
    if (limit && policy.memory.size() > static_cast<std::size_t>(*limit))
        return fmt::format("access_policy: the memory has {} bytes; this device allows {}", policy.memory.size(),
                           *limit);
    return {};
}

} // namespace cudag::detail
