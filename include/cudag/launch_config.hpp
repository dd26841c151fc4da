// The shape of a kernel launch.
#pragma once

#include <cudag/config.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>

namespace cudag {

/// Grid and block in CUDA's units: blocks, and threads of a block. An aggregate: `{.grid = 8, .block = 256}`.
struct LaunchConfig {
    dim3 grid = {1, 1, 1};
    dim3 block = {1, 1, 1};
    std::size_t shared_bytes = 0; ///< dynamic shared memory of one block
};

/// As many blocks of `block` threads as cover `n` elements: the last block may be partly idle.
/// Throws GraphError if `n` or `block` is 0, or if the grid would exceed CUDA's limit of 2^31 - 1 blocks.
[[nodiscard]] CUDAG_EXPORT LaunchConfig grid_1d(std::size_t n, unsigned block);

/// The same in two and three dimensions; y and z are limited to 65535 blocks.
[[nodiscard]] CUDAG_EXPORT LaunchConfig grid_2d(std::size_t width, std::size_t height, dim3 block);
[[nodiscard]] CUDAG_EXPORT LaunchConfig grid_3d(std::size_t width, std::size_t height, std::size_t depth, dim3 block);

} // namespace cudag
