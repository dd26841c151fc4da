// The device memory of execs, estimated.
#pragma once

#include <algorithm>
#include <cstddef>

namespace cudag::detail {

/// The device memory of an exec with so many branches (see edges/branches.hpp) and nodes, without fills: from
/// measurements on an H100 with CUDA 13.0, by `bench/footprints`. The difference of free memory would show pieces of
/// some MiB, shared by many execs.
[[nodiscard]] constexpr std::size_t estimated_exec_bytes(std::size_t branches, std::size_t nodes) noexcept {
    constexpr std::size_t of_branch = std::size_t{108} * 1024, of_node = 2608;
    return std::max<std::size_t>(branches, 1) * of_branch + nodes * of_node;
}

} // namespace cudag::detail
