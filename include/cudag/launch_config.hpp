// The shape of a kernel launch.
#pragma once

#include <cudag/access_policy.hpp>
#include <cudag/config.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace cudag {

/// Which memory operations a kernel's fences wait for: those of its own domain. `remote` is for kernels that talk to
/// other devices, so that the fences of the others need not wait for them.
enum class MemorySyncDomain : std::uint8_t {
    default_domain = cudaLaunchMemSyncDomainDefault,
    remote = cudaLaunchMemSyncDomainRemote,
};

/// Grid and block in CUDA's units: blocks, and threads of a block. An aggregate: `{.grid = 8, .block = 256}`.
/// What comes after `shared_bytes` is fixed once a node is made: an update may repeat it or leave it out, but not
/// change it. What the device does not support is refused with a GraphError (Error by `launch`) that says so.
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
};

/// "grid 8, block 16 x 16, shared_bytes 1024", and what else is not as by default.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const LaunchConfig& config);

/// As many blocks of `block` threads as cover `n` elements: the last block may be partly idle.
/// Throws GraphError if `n` or `block` is 0, or if the grid would exceed CUDA's limit of 2^31 - 1 blocks.
[[nodiscard]] CUDAG_EXPORT LaunchConfig grid_1d(std::size_t n, unsigned block);

/// The same in two and three dimensions; y and z are limited to 65535 blocks.
[[nodiscard]] CUDAG_EXPORT LaunchConfig grid_2d(std::size_t width, std::size_t height, dim3 block);
[[nodiscard]] CUDAG_EXPORT LaunchConfig grid_3d(std::size_t width, std::size_t height, std::size_t depth, dim3 block);

} // namespace cudag
