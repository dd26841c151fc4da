// StreamCapture: its templates for adding nodes to a running capture, through a temporary GraphBuilder.
#pragma once

#include <cudag/builder.hpp>
#include <cudag/condition.hpp>
#include <cudag/nested_node.hpp>
#include <cudag/stream_capture.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace cudag {

template <class Callable>
auto StreamCapture::add(Callable&& function, SourceLocation location) {
    constexpr bool takes_builder = std::is_invocable_v<Callable&, GraphBuilder&>;
    static_assert(takes_builder, "cudag: add() takes a function of a GraphBuilder&: add([&](cudag::GraphBuilder& b) "
                                 "{ ... })");
    if constexpr (takes_builder) {
        using Result = std::invoke_result_t<Callable&, GraphBuilder&>;
        static_assert(!std::is_reference_v<Result>,
                      "cudag: add() hands out what the function returns, which must be a value, not a reference");
        if constexpr (std::is_void_v<Result>) {
            add_nodes([&](GraphBuilder& b) { std::invoke(function, b); }, location);
        } else {
            std::optional<Result> result;
            add_nodes([&](GraphBuilder& b) { result.emplace(std::invoke(function, b)); }, location);
            return *std::move(result);
        }
    }
}

template <class Kernel, class... Argument>
auto StreamCapture::kernel(detail::Located<LaunchConfig> config, Kernel&& function, Argument&&... arguments) {
    return add(
        [&](GraphBuilder& b) {
            return b.kernel(config, std::forward<Kernel>(function), std::forward<Argument>(arguments)...);
        },
        config.location);
}
template <class Kernel, class... Argument>
auto StreamCapture::kernel(const detail::BracedConfig& config, Kernel&& function, Argument&&... arguments) {
    return add(
        [&](GraphBuilder& b) {
            return b.kernel(config, std::forward<Kernel>(function), std::forward<Argument>(arguments)...);
        },
        config.location);
}

template <std::integral Number>
WhileNode StreamCapture::repeat(Number times, detail::GraphBody body, SourceLocation location) {
    return add([&](GraphBuilder& b) { return b.repeat(times, body, location); }, location);
}
template <detail::GraphBodies Bodies>
SwitchNode StreamCapture::switch_(const Condition& condition, Bodies&& bodies, SourceLocation location) {
    return add([&](GraphBuilder& b) { return b.switch_(condition, bodies, location); }, location);
}
template <class... Argument>
auto StreamCapture::set(detail::Located<Condition> condition, const Argument&... values) {
    return add([&](GraphBuilder& b) { return b.set(condition, values...); }, condition.location);
}

} // namespace cudag
