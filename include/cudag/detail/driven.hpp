// What of a node follows a DynamicParam, beside arguments.
#pragma once

#include <cudag/launch_config.hpp>

#include <cstdint>
#include <functional>

namespace cudag::detail {

/// One of these, of the parameter's value.
struct Driven {
    std::function<LaunchConfig(const void* value)> config = {}; ///< of a kernel: grid, block, shared bytes
    std::function<std::int64_t(const void* value)> count = {};  ///< of a copy or fill, in elements
};

} // namespace cudag::detail
