// What a kernel node launches, without its type.
#pragma once

#include <cudag/launch_config.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cudag {

/// Of any kernel node, one with a library's kernel included, of which only CUDA knows the parameters.
struct KernelInfo {
    std::string name; ///< demangled, without the list of parameters: "scale<float>"
    LaunchConfig config;
    /// The bytes of each argument, in order; to be read while the graph lives, and until it updates the node.
    std::vector<std::span<const std::byte>> arguments;
};

} // namespace cudag
