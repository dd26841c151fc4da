// A launch configuration in two parts: grid, block and shared memory, and the seldom used attributes.
#pragma once

#include <cudag/launch_config.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>

namespace cudag::detail {

/// The part of a LaunchConfig open to updates.
struct LaunchShape {
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes = 0;
};
/// Returns the shape of a LaunchConfig or a BracedConfig.
template <class Config>
[[nodiscard]] constexpr LaunchShape shape_of(const Config& config) noexcept {
    // By components: a load of a whole dim3 would wait for the recent stores to its parts.
    return {dim3(config.grid.x, config.grid.y, config.grid.z), dim3(config.block.x, config.block.y, config.block.z),
            config.shared_bytes};
}

/// Returns a configuration of `shape` with the attributes of `attributes`, ignoring its shape; null for no attributes.
[[nodiscard]] constexpr LaunchConfig config_of(const LaunchShape& shape, const LaunchConfig* attributes) noexcept {
    LaunchConfig config = attributes != nullptr ? *attributes : LaunchConfig();
    config.grid = shape.grid;
    config.block = shape.block;
    config.shared_bytes = shape.shared_bytes;
    return config;
}

/// Returns a nonzero number if the field of an attribute differs from its default.
constexpr unsigned is_given(const dim3& blocks) noexcept {
    return (blocks.x ^ 1U) | (blocks.y ^ 1U) | (blocks.z ^ 1U);
}
template <class Setting>
requires std::is_same_v<Setting, bool> || std::is_enum_v<Setting>
constexpr unsigned is_given(const Setting& value) noexcept {
    return static_cast<unsigned>(value);
}
template <class Setting>
constexpr unsigned is_given(const std::optional<Setting>& value) noexcept {
    return static_cast<unsigned>(value.has_value());
}
constexpr unsigned is_given(const ProgrammaticEvent& event) noexcept {
    return static_cast<unsigned>(event.event != nullptr) | static_cast<unsigned>(event.trigger_at_block_start);
}
constexpr unsigned is_given(const cudaEvent_t& event) noexcept {
    return static_cast<unsigned>(event != nullptr);
}

/// True if a LaunchConfig or a BracedConfig has attributes. One branch: a plain launch pays nothing.
template <class Config>
[[nodiscard]] constexpr bool has_attributes(const Config& config) noexcept {
    return std::apply([](const dim3&, const dim3&, const std::size_t&,
                         const auto&... attributes) { return (is_given(attributes) | ...) != 0; },
                      fields_of(config));
}
/// True if the compiler knows at compile time of no attributes. The caller then makes no LaunchConfig: it would cost
/// more than the rest of a call.
template <class Config>
[[nodiscard, gnu::always_inline]] inline bool is_known_plain(const Config& config) noexcept {
    const bool given = has_attributes(config);
    return __builtin_constant_p(given) && !given;
}

/// The configuration of a launch, as passed between functions.
struct PassedConfig {
    LaunchShape shape;
    const LaunchConfig* attributes = nullptr; ///< a configuration of the same shape; null without attributes

    PassedConfig(const LaunchShape& plain) noexcept : shape(plain) {}
    PassedConfig(const LaunchConfig& config) noexcept : shape(shape_of(config)), attributes(&config) {}
};

} // namespace cudag::detail
