// KernelInfo: the launch of a kernel node, without its types.
#pragma once

#include <cudag/launch_config.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cudag {

/// The name, configuration and arguments of a kernel node. Returned by `Node::kernel_info` for every kernel, also for
/// the kernels of libraries, whose parameters only CUDA knows.
///
///     const cudag::KernelInfo info = b.kernel(config, step, x, n).kernel_info();
///     std::printf("%s: %zu arguments", info.name.c_str(), info.arguments.size());
struct KernelInfo {
    std::string name; ///< demangled, without the parameter list: "scale<float>"
    LaunchConfig config;
    /// The bytes of each argument, in order. They are valid while the graph lives, until it updates the node.
    std::vector<std::span<const std::byte>> arguments;
};

} // namespace cudag
