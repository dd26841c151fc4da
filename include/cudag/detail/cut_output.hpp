// Outputs of graphed functions, cut to the given items.
#pragma once

#include <cudag/detail/argument.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cudag::detail {

template <class Output>
concept HasCut = requires(const Output& output, std::size_t items) {
    { output.cut(items, items) } -> std::convertible_to<Output>;
};

/// A DeviceSpan, a type with `cut`, or a tuple, pair or array of such.
template <class Output>
inline constexpr bool is_cuttable = is_device_span<Output> || HasCut<Output>;
template <class... Part>
inline constexpr bool is_cuttable<std::tuple<Part...>> = (is_cuttable<Part> && ...);
template <class First, class Second>
inline constexpr bool is_cuttable<std::pair<First, Second>> = is_cuttable<First> && is_cuttable<Second>;
template <class Part, std::size_t Count>
inline constexpr bool is_cuttable<std::array<Part, Count>> = is_cuttable<Part>;

/// Returns the part of `output` that belongs to the first `items` of `bucket` items. A span whose size is no multiple
/// of the bucket stays whole.
template <class Output>
Output cut_output(const Output& output, std::size_t items, std::size_t bucket) {
    if constexpr (HasCut<Output>)
        return output.cut(items, bucket);
    else if constexpr (is_device_span<Output>)
        return output.size() % bucket == 0 ? output.first(output.size() / bucket * items) : output;
    else
        return std::apply([&](const auto&... part) { return Output{cut_output(part, items, bucket)...}; }, output);
}

} // namespace cudag::detail
