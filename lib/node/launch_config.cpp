// Launch configurations: grids that cover a number of elements, and text for logs.
#include <cudag/launch_config.hpp>

#include "cuda/failure.hpp"
#include "launch_attributes.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <string>

namespace cudag {

namespace {

unsigned blocks(std::size_t elements, unsigned block, char axis) {
    const std::size_t limit = axis == 'x' ? 2147483647 : 65535; // CUDA Programming Guide, technical specifications
    if (elements == 0) detail::refuse(fmt::format("grid: 0 elements in {}; a grid covers at least 1", axis));
    if (block == 0) detail::refuse(fmt::format("grid: block.{} is 0; every block dimension must be at least 1", axis));
    const std::size_t count = (elements - 1) / block + 1;
    if (count > limit)
        detail::refuse(
            fmt::format("grid: {} elements in {} with block.{} = {} need {} blocks; CUDA allows {}: use a larger "
                        "block or a grid-stride loop",
                        elements, axis, axis, block, count, limit));
    return static_cast<unsigned>(count);
}

/// "8", "8 x 4", "8 x 4 x 2"
std::string extent(const dim3& size) {
    std::string text = fmt::to_string(size.x);
    if (size.y != 1 || size.z != 1) text += fmt::format(" x {}", size.y);
    if (size.z != 1) text += fmt::format(" x {}", size.z);
    return text;
}

} // namespace

LaunchConfig grid_1d(std::size_t n, unsigned block) {
    return grid_3d(n, 1, 1, {block, 1, 1});
}

LaunchConfig grid_2d(std::size_t width, std::size_t height, dim3 block) {
    return grid_3d(width, height, 1, block);
}

LaunchConfig grid_3d(std::size_t width, std::size_t height, std::size_t depth, dim3 block) {
    const dim3 grid{blocks(width, block.x, 'x'), blocks(height, block.y, 'y'), blocks(depth, block.z, 'z')};
    return {grid, block};
}

std::string to_string(const LaunchConfig& config) {
    std::string text = fmt::format("grid {}, block {}", extent(config.grid), extent(config.block));
    if (config.shared_bytes != 0) text += fmt::format(", shared_bytes {}", config.shared_bytes);
    return text + detail::describe_attributes(config, ", ");
}

} // namespace cudag
