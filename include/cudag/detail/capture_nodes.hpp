// StreamCapture: its templates for adding nodes to a running capture, through a temporary GraphBuilder.
#pragma once

#include <cudag/builder.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream_capture.hpp>

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

template <class Function>
auto StreamCapture::place(const SourceLocation& location, const Function& function) {
    return add([&](GraphBuilder& b) { return b.place(location, function); }, location);
}

} // namespace cudag
