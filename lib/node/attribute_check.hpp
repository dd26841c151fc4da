// What device and kernel allow of a launch's attributes, because CUDA only says "invalid argument".
#pragma once

#include <cudag/launch_config.hpp>

#include <string>

namespace cudag::detail {

// Each says what is wrong, with values, limits and what to do; empty if nothing is known to be wrong. `symbol` is the
// kernel, or null if unknown.
[[nodiscard]] std::string broken_cluster(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_preferred_cluster(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_shared_memory_mode(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_cooperation(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_priority(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_domain_map(const LaunchConfig& config, const void* symbol);
[[nodiscard]] std::string broken_policy(const LaunchConfig& config, const void* symbol);

} // namespace cudag::detail
