// The launch shapes and sizes of nodes that follow a DynamicParam.
#pragma once

#include <cudag/launch_config.hpp>

#include <cstdint>
#include <functional>
#include <type_traits>

namespace cudag::detail {

/// A number of elements from any integral type.
struct ElementCount {
    std::uint64_t value; ///< two's complement if negative
    bool is_negative;
};
/// Converts a number of any integral type, without loss.
template <class Integer>
[[nodiscard]] constexpr ElementCount element_count(Integer count) noexcept {
    if constexpr (std::is_signed_v<Integer>)
        return {static_cast<std::uint64_t>(count), count < 0};
    else
        return {static_cast<std::uint64_t>(count), false};
}

/// A function of the parameter's value, for one node: one of the two is set.
struct Driven {
    std::function<LaunchConfig(const void* value)> config = {}; ///< the grid, block and shared bytes of a kernel
    std::function<ElementCount(const void* value)> count = {};  ///< the size of a copy or fill, in elements
};

} // namespace cudag::detail
