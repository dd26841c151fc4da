// Checks of launch attributes against device and kernel, since CUDA only reports "invalid argument".
#pragma once

#include <cudag/launch_config.hpp>

#include <string>

namespace cudag::detail {

// Each returns the problem, with values, limits and remedy; empty if none is known. `symbol` is the kernel, or null if
// unknown.
[[nodiscard]] std::string broken_cluster(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_preferred_cluster(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_device_update(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_shared_memory_mode(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_cooperation(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_priority(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_domain_map(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_policy(const LaunchConfig& config, const void* symbol);

} // namespace cudag::detail
