// What of a node follows a DynamicParam, beside arguments.
#pragma once

#include <cudag/launch_config.hpp>

#include <cstdint>
#include <functional>
#include <type_traits>

namespace cudag::detail {

/// A number of elements, of whichever integral type it was.
struct ElementCount {
    std::uint64_t value; ///< of a negative one, its two's complement
    bool is_negative;
};
template <class Integer>
[[nodiscard]] constexpr ElementCount element_count(Integer count) noexcept {
    if constexpr (std::is_signed_v<Integer>)
        return {static_cast<std::uint64_t>(count), count < 0};
    else
        return {static_cast<std::uint64_t>(count), false};
}

/// One of these, of the parameter's value.
struct Driven {
    std::function<LaunchConfig(const void* value)> config = {}; ///< of a kernel: grid, block, shared bytes
    std::function<ElementCount(const void* value)> count = {};  ///< of a copy or fill, in elements
};

} // namespace cudag::detail
