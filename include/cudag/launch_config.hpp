// The shape of a kernel launch.
#pragma once

#include <cudag/access_policy.hpp>
#include <cudag/config.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

namespace cudag {

/// Which memory operations a kernel's fences wait for: those of its own domain. `remote` is for kernels that talk to
/// other devices, so that the fences of the others need not wait for them.
enum class MemorySyncDomain : std::uint8_t {
    default_domain = cudaLaunchMemSyncDomainDefault,
    remote = cudaLaunchMemSyncDomainRemote,
};

/// Which domain of the device each MemorySyncDomain is: below `cudaDevAttrMemSyncDomainCount`.
struct MemorySyncDomainMap {
    std::uint8_t default_domain = 0;
    std::uint8_t remote = 1;
};

/// How the blocks of clusters are spread over the multiprocessors.
enum class ClusterSchedulingPolicy : std::uint8_t {
    default_policy = cudaClusterSchedulingPolicyDefault, ///< that of the function
    spread = cudaClusterSchedulingPolicySpread,          ///< evenly
    load_balancing = cudaClusterSchedulingPolicyLoadBalancing,
};

/// Whether a cluster may have more blocks than every device with clusters can run together: 8.
enum class PortableClusterMode : std::uint8_t {
    default_mode, ///< as the function says: `cudaFuncAttributeNonPortableClusterSizeAllowed`
    require_portable,
    allow_non_portable,
};

/// Whether a block may have more shared memory than every device gives: `cudaDevAttrMaxSharedMemoryPerBlock`.
enum class SharedMemoryMode : std::uint8_t {
    default_mode, ///< as the function says: `cudaFuncAttributeMaxDynamicSharedMemorySize`
    require_portable,
    allow_non_portable, ///< up to `cudaDevAttrMaxSharedMemoryPerBlockOptin`
};

/// An event that a launch records, without timing: `Event({.timing = false})`. What waits for it may start when every
/// block has called `cudaTriggerProgrammaticLaunchCompletion()` or has finished; with `trigger_at_block_start`, when
/// every block has started. See `programmatic` for what a kernel that starts early must do.
struct ProgrammaticEvent {
    cudaEvent_t event = nullptr; ///< none if null
    bool trigger_at_block_start = false;
};

/// Grid and block in CUDA's units: blocks, and threads of a block. An aggregate: `{.grid = 8, .block = 256}`.
/// What comes after `shared_bytes` is fixed once a node is made: an update may repeat it or leave it out, but not
/// change it. What the device or this version of CUDA does not support is refused with a GraphError (Error by `launch`)
/// that says so.
struct LaunchConfig {
    dim3 grid = {1, 1, 1};
    dim3 block = {1, 1, 1};
    std::size_t shared_bytes = 0; ///< dynamic shared memory of one block

    dim3 cluster = {1, 1, 1}; ///< blocks that run side by side and share memory; must divide the grid
    bool cooperative = false; ///< all blocks run at once, so that they can wait for each other
    /// Only for nodes: other kernels may change grid, arguments and enabled state, see `KernelNode::on_device`.
    bool device_updatable = false;
    MemorySyncDomain memory_sync_domain = MemorySyncDomain::default_domain;
    /// Lower numbers go first, within `cudaDeviceGetStreamPriorityRange`. That of a node counts in an Exec with
    /// `use_node_priority`.
    std::optional<int> priority = std::nullopt;
    std::optional<AccessPolicy> access_policy = std::nullopt;

    /// Only for `launch`, also in captures (CUDA's nodes refuse it, and do not tell it; driver 580): the cluster that
    /// CUDA takes instead of `cluster` where the device has room, a multiple of it in x and y. Needs CUDA 12.8.
    dim3 preferred_cluster = {1, 1, 1};
    /// CUDA tells `spread` of captured launches without one (driver 580): of those, `spread` reads as the default.
    ClusterSchedulingPolicy cluster_scheduling_policy = ClusterSchedulingPolicy::default_policy;
    PortableClusterMode portable_cluster_size_mode = PortableClusterMode::default_mode; ///< needs CUDA 13.2
    SharedMemoryMode shared_memory_mode = SharedMemoryMode::default_mode;               ///< needs CUDA 13.2
    bool nvlink_util_centric_scheduling = false; ///< a hint: use NVLink well; needs CUDA 13.0
    std::optional<MemorySyncDomainMap> memory_sync_domain_map = std::nullopt;
    /// Only for `launch`: the kernel may start before the one before it in the stream has finished, if that calls
    /// `cudaTriggerProgrammaticLaunchCompletion()`. In a capture, that is an edge as of `.after(programmatic(node))`.
    bool programmatic_stream_serialization = false;
    /// A hint: how much of the memory that L1 cache and shared memory have in common shared memory should get, in
    /// percent. Needs CUDA 12.5.
    std::optional<unsigned> preferred_shared_memory_carveout = std::nullopt;
    /// Only for `launch`, which records it. In a capture, what waits for it has an edge as of
    /// `.after(programmatic(node))`, or `.after(launch_completion(node))` with `trigger_at_block_start`.
    ProgrammaticEvent programmatic_event = {};
    /// Only for `launch`, which records it, null for none: an event without timing, which is reached when every block
    /// has started. In a capture, what waits for it has an edge as of `.after(launch_completion(node))`.
    cudaEvent_t launch_completion_event = nullptr;
};

/// "grid 8, block 16 x 16, shared_bytes 1024", and what else is not as by default.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const LaunchConfig& config);

/// As many blocks of `block` threads as cover `n` elements: the last block may be partly idle.
/// Throws GraphError if `n` or `block` is 0, or if the grid would exceed CUDA's limit of 2^31 - 1 blocks.
[[nodiscard]] CUDAG_EXPORT LaunchConfig grid_1d(std::size_t n, unsigned block);

/// The same in two and three dimensions; y and z are limited to 65535 blocks.
[[nodiscard]] CUDAG_EXPORT LaunchConfig grid_2d(std::size_t width, std::size_t height, dim3 block);
[[nodiscard]] CUDAG_EXPORT LaunchConfig grid_3d(std::size_t width, std::size_t height, std::size_t depth, dim3 block);

namespace detail {

/// LaunchConfig written in braces at the call, `{.grid = 8, .block = 256}`: only an aggregate takes designators, and it
/// notes the location by itself. Has the fields of LaunchConfig.
struct BracedConfig {
    dim3 grid = {1, 1, 1};
    dim3 block = {1, 1, 1};
    std::size_t shared_bytes = 0;
    dim3 cluster = {1, 1, 1};
    bool cooperative = false;
    bool device_updatable = false;
    MemorySyncDomain memory_sync_domain = MemorySyncDomain::default_domain;
    std::optional<int> priority = std::nullopt;
    std::optional<AccessPolicy> access_policy = std::nullopt;
    dim3 preferred_cluster = {1, 1, 1};
    ClusterSchedulingPolicy cluster_scheduling_policy = ClusterSchedulingPolicy::default_policy;
    PortableClusterMode portable_cluster_size_mode = PortableClusterMode::default_mode;
    SharedMemoryMode shared_memory_mode = SharedMemoryMode::default_mode;
    bool nvlink_util_centric_scheduling = false;
    std::optional<MemorySyncDomainMap> memory_sync_domain_map = std::nullopt;
    bool programmatic_stream_serialization = false;
    std::optional<unsigned> preferred_shared_memory_carveout = std::nullopt;
    ProgrammaticEvent programmatic_event = {};
    cudaEvent_t launch_completion_event = nullptr;
    SourceLocation location = SourceLocation::current();

    operator LaunchConfig() const noexcept {
        return {grid,
                block,
                shared_bytes,
                cluster,
                cooperative,
                device_updatable,
                memory_sync_domain,
                priority,
                access_policy,
                preferred_cluster,
                cluster_scheduling_policy,
                portable_cluster_size_mode,
                shared_memory_mode,
                nvlink_util_centric_scheduling,
                memory_sync_domain_map,
                programmatic_stream_serialization,
                preferred_shared_memory_carveout,
                programmatic_event,
                launch_completion_event};
    }
};

/// All fields of a LaunchConfig, in order. Does not compile while one is missing.
template <class Config>
requires std::is_same_v<std::remove_const_t<Config>, LaunchConfig>
constexpr auto fields_of(Config& config) noexcept {
    [[maybe_unused]] auto& [grid, block, shared_bytes, cluster, cooperative, device_updatable, memory_sync_domain,
                            priority, access_policy, preferred_cluster, cluster_scheduling_policy,
                            portable_cluster_size_mode, shared_memory_mode, nvlink_util_centric_scheduling,
                            memory_sync_domain_map, programmatic_stream_serialization, preferred_shared_memory_carveout,
                            programmatic_event, launch_completion_event] = config;
    return std::tie(grid, block, shared_bytes, cluster, cooperative, device_updatable, memory_sync_domain, priority,
                    access_policy, preferred_cluster, cluster_scheduling_policy, portable_cluster_size_mode,
                    shared_memory_mode, nvlink_util_centric_scheduling, memory_sync_domain_map,
                    programmatic_stream_serialization, preferred_shared_memory_carveout, programmatic_event,
                    launch_completion_event);
}

/// The same of one in braces, without its location.
template <class Config>
requires std::is_same_v<std::remove_const_t<Config>, BracedConfig>
constexpr auto fields_of(Config& config) noexcept {
    [[maybe_unused]] auto& [grid, block, shared_bytes, cluster, cooperative, device_updatable, memory_sync_domain,
                            priority, access_policy, preferred_cluster, cluster_scheduling_policy,
                            portable_cluster_size_mode, shared_memory_mode, nvlink_util_centric_scheduling,
                            memory_sync_domain_map, programmatic_stream_serialization, preferred_shared_memory_carveout,
                            programmatic_event, launch_completion_event, location] = config;
    return std::tie(grid, block, shared_bytes, cluster, cooperative, device_updatable, memory_sync_domain, priority,
                    access_policy, preferred_cluster, cluster_scheduling_policy, portable_cluster_size_mode,
                    shared_memory_mode, nvlink_util_centric_scheduling, memory_sync_domain_map,
                    programmatic_stream_serialization, preferred_shared_memory_carveout, programmatic_event,
                    launch_completion_event);
}

} // namespace detail

} // namespace cudag
