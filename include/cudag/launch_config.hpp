// The launch configuration of a kernel: its shape and its attributes.
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

/// The domain of a kernel's memory operations: fences of a kernel wait for operations of its own domain only. `remote`
/// is for kernels that communicate with other devices: fences of other kernels then need not wait for them.
enum class MemorySyncDomain : std::uint8_t {
    default_domain = cudaLaunchMemSyncDomainDefault,
    remote = cudaLaunchMemSyncDomainRemote,
};

/// Maps each MemorySyncDomain to a domain of the device: a number below `cudaDevAttrMemSyncDomainCount`.
struct MemorySyncDomainMap {
    std::uint8_t default_domain = 0;
    std::uint8_t remote = 1;
};

/// The distribution of the blocks of clusters over the multiprocessors.
enum class ClusterSchedulingPolicy : std::uint8_t {
    default_policy = cudaClusterSchedulingPolicyDefault, ///< the policy of the function
    spread = cudaClusterSchedulingPolicySpread,          ///< an even distribution
    load_balancing = cudaClusterSchedulingPolicyLoadBalancing,
    /// Like `spread`, and prefers places where distributed shared memory is near, on GPUs of the Rubin generation; a
    /// hint. Needs CUDA 13.4.
    rubin_dsmem_locality,
};

/// Permission for clusters of more than 8 blocks, the most on every device with clusters.
enum class PortableClusterMode : std::uint8_t {
    default_mode, ///< decided by the function: `cudaFuncAttributeNonPortableClusterSizeAllowed`
    require_portable,
    allow_non_portable,
};

/// Permission for more shared memory in a block than `cudaDevAttrMaxSharedMemoryPerBlock`, the most on every device.
enum class SharedMemoryMode : std::uint8_t {
    default_mode, ///< decided by the function: `cudaFuncAttributeMaxDynamicSharedMemorySize`
    require_portable,
    allow_non_portable, ///< up to `cudaDevAttrMaxSharedMemoryPerBlockOptin`
    allow_oversized,    ///< also configurations that leave 8 KiB of L1 cache only; needs CUDA 13.4
    prefer_oversized,   ///< such configurations first; needs CUDA 13.4
};

/// An event for programmatic dependent launch (PDL), recorded by a launch.
///
///     cudag::Event produced({.timing = false});
///     config.programmatic_event.event = produced.get();
///     cudag::launch(stream, config, step, x, n);
///
/// Work waiting for the event may start when every block has called `cudaTriggerProgrammaticLaunchCompletion()` or has
/// finished; with `trigger_at_block_start`, when every block has started. The event must have no timing. See
/// `programmatic` for the duties of a kernel that starts early.
struct ProgrammaticEvent {
    cudaEvent_t event = nullptr; ///< null: no event
    bool trigger_at_block_start = false;
};

/// The shape and the attributes of a kernel launch, in CUDA's units: `grid` counts blocks, `block` counts threads.
///
///     b.kernel({.grid = 8, .block = 256}, step, x, 2048);
///     b.kernel({.grid = 8, .block = 256, .cluster = 2}, step, x, 2048);
///     b.kernel(cudag::grid_1d(1000, 256), step, x, 1000);
///
/// An update of a node may change `grid`, `block` and `shared_bytes`. It may repeat or omit the fields after them, but
/// not change them. An attribute that is invalid, or unsupported by the device or by this version of CUDA, is refused
/// with the reason: by a GraphError, in `launch` by an Error, in an update by an UpdateError.
struct LaunchConfig {
    dim3 grid = {1, 1, 1};
    dim3 block = {1, 1, 1};
    std::size_t shared_bytes = 0; ///< dynamic shared memory of one block

    dim3 cluster = {1, 1, 1}; ///< blocks that run concurrently and share memory; must divide the grid
    bool cooperative = false; ///< all blocks run concurrently, so they can wait for each other
    /// Lets other kernels change grid, arguments and enabled state: see `KernelNode::on_device`. Only for nodes.
    bool device_updatable = false;
    /// Declares that every launch of the kernel calls `cudag::wait_for_previous()` before it reads or writes memory
    /// used by other nodes. It may then start before the kernels before it have ended: see `wait_for_previous`. In a
    /// stream, implies `programmatic_stream_serialization`.
    bool waits_for_previous = false;
    MemorySyncDomain memory_sync_domain = MemorySyncDomain::default_domain;
    /// The scheduling priority, within `cudaDeviceGetStreamPriorityRange`: lower numbers go first. The priority of a
    /// node takes effect in an Exec with `use_node_priority`.
    std::optional<int> priority = std::nullopt;
    std::optional<AccessPolicy> access_policy = std::nullopt;

    /// The cluster used instead of `cluster` if the device has room: a multiple of `cluster` in x and y. Only for
    /// `launch`, also in captures: CUDA refuses it for nodes, and does not report it of captured ones (driver 580).
    /// Needs CUDA 12.8.
    dim3 preferred_cluster = {1, 1, 1};
    /// For a captured launch, `spread` reads as the default: CUDA reports `spread` if none was given (driver 580).
    ClusterSchedulingPolicy cluster_scheduling_policy = ClusterSchedulingPolicy::default_policy;
    PortableClusterMode portable_cluster_size_mode = PortableClusterMode::default_mode; ///< needs CUDA 13.2
    SharedMemoryMode shared_memory_mode = SharedMemoryMode::default_mode;               ///< needs CUDA 13.2
    bool nvlink_util_centric_scheduling = false; ///< a hint to use NVLink well; needs CUDA 13.0
    std::optional<MemorySyncDomainMap> memory_sync_domain_map = std::nullopt;
    /// Programmatic dependent launch (PDL): the kernel may start before the previous kernel of the stream has finished,
    /// if the previous kernel calls `cudaTriggerProgrammaticLaunchCompletion()`. Only for `launch`. A capture records
    /// an edge as by `.after(programmatic(node))`.
    bool programmatic_stream_serialization = false;
    /// A hint: the part of the combined memory of L1 cache and shared memory to use as shared memory, in percent. Needs
    /// CUDA 12.5.
    std::optional<unsigned> preferred_shared_memory_carveout = std::nullopt;
    /// The PDL event recorded by the launch. Only for `launch`. In a capture, work waiting for it gets an edge as by
    /// `.after(programmatic(node))`; with `trigger_at_block_start`, as by `.after(launch_completion(node))`.
    ProgrammaticEvent programmatic_event = {};
    /// An event without timing, recorded by the launch and reached when every block has started; null: no event. Only
    /// for `launch`. In a capture, work waiting for it gets an edge as by `.after(launch_completion(node))`.
    cudaEvent_t launch_completion_event = nullptr;
};

/// Describes the shape and all fields without their default value: "grid 8, block 16 x 16, shared_bytes 1024".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const LaunchConfig& config);

/// Returns a grid of blocks of `block` threads that covers `n` elements; the last block may be partly idle.
/// Throws GraphError if `n` or `block` is 0, or if the grid would exceed CUDA's limit of 2^31 - 1 blocks.
[[nodiscard]] CUDAG_EXPORT LaunchConfig grid_1d(std::size_t n, unsigned block);

/// Returns a grid of blocks that covers `width` x `height` elements; the last blocks may be partly idle. Throws
/// GraphError if a number is 0, or if the grid would exceed CUDA's limits: 2^31 - 1 blocks in x, 65535 in y.
[[nodiscard]] CUDAG_EXPORT LaunchConfig grid_2d(std::size_t width, std::size_t height, dim3 block);

/// Returns a grid of blocks that covers `width` x `height` x `depth` elements. Idle threads and errors are those of
/// `grid_2d`; the limit in z is 65535 blocks.
[[nodiscard]] CUDAG_EXPORT LaunchConfig grid_3d(std::size_t width, std::size_t height, std::size_t depth, dim3 block);

namespace detail {

/// A LaunchConfig written in braces at the call, `{.grid = 8, .block = 256}`. It has the fields of LaunchConfig, and
/// records the location of the call. Only an aggregate accepts designators.
struct BracedConfig {
    dim3 grid = {1, 1, 1};
    dim3 block = {1, 1, 1};
    std::size_t shared_bytes = 0;
    dim3 cluster = {1, 1, 1};
    bool cooperative = false;
    bool device_updatable = false;
    bool waits_for_previous = false;
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
                waits_for_previous,
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

/// Returns references to all fields of a LaunchConfig, in order. Fails to compile if one is missing here.
template <class Config>
requires std::is_same_v<std::remove_const_t<Config>, LaunchConfig>
constexpr auto fields_of(Config& config) noexcept {
    [[maybe_unused]] auto& [grid, block, shared_bytes, cluster, cooperative, device_updatable, waits_for_previous,
                            memory_sync_domain, priority, access_policy, preferred_cluster, cluster_scheduling_policy,
                            portable_cluster_size_mode, shared_memory_mode, nvlink_util_centric_scheduling,
                            memory_sync_domain_map, programmatic_stream_serialization, preferred_shared_memory_carveout,
                            programmatic_event, launch_completion_event] = config;
    return std::tie(grid, block, shared_bytes, cluster, cooperative, device_updatable, waits_for_previous,
                    memory_sync_domain, priority, access_policy, preferred_cluster, cluster_scheduling_policy,
                    portable_cluster_size_mode, shared_memory_mode, nvlink_util_centric_scheduling,
                    memory_sync_domain_map, programmatic_stream_serialization, preferred_shared_memory_carveout,
                    programmatic_event, launch_completion_event);
}

/// Returns references to all fields of a BracedConfig, in order, except its location.
template <class Config>
requires std::is_same_v<std::remove_const_t<Config>, BracedConfig>
constexpr auto fields_of(Config& config) noexcept {
    [[maybe_unused]] auto& [grid, block, shared_bytes, cluster, cooperative, device_updatable, waits_for_previous,
                            memory_sync_domain, priority, access_policy, preferred_cluster, cluster_scheduling_policy,
                            portable_cluster_size_mode, shared_memory_mode, nvlink_util_centric_scheduling,
                            memory_sync_domain_map, programmatic_stream_serialization, preferred_shared_memory_carveout,
                            programmatic_event, launch_completion_event, location] = config;
    return std::tie(grid, block, shared_bytes, cluster, cooperative, device_updatable, waits_for_previous,
                    memory_sync_domain, priority, access_policy, preferred_cluster, cluster_scheduling_policy,
                    portable_cluster_size_mode, shared_memory_mode, nvlink_util_centric_scheduling,
                    memory_sync_domain_map, programmatic_stream_serialization, preferred_shared_memory_carveout,
                    programmatic_event, launch_completion_event);
}

} // namespace detail

} // namespace cudag
