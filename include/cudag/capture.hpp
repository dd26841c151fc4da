// capture(): turns existing stream code into a Graph in one line.
#pragma once

#include <cudag/graph.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>
#include <cudag/stream_capture.hpp>

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

namespace cudag {

/// A captured graph, and what the captured function returned: not kept by the graph.
template <class Output>
struct Captured {
    Graph graph;
    Output output;
};

namespace detail {

template <class Callable>
concept CaptureFunction = std::invocable<Callable&, cudaStream_t> || std::invocable<Callable&, StreamCapture&>;

template <CaptureFunction Callable>
decltype(auto) call_captured(Callable& function, StreamCapture& capture) {
    if constexpr (std::invocable<Callable&, cudaStream_t>)
        return std::invoke(function, capture.stream());
    else
        return std::invoke(function, capture);
}

} // namespace detail

/// Captures what `function` enqueues into `stream`, and returns the Graph. The function is called once, with the stream
/// or, to use its steps, forks and owners, with the StreamCapture&. If it returns a value (not a reference), that comes
/// with the graph, as a Captured. Nothing runs until the graph is launched. Memory is borrowed as StreamCapture says.
/// What `function` throws passes through, the stream is usable after it. Throws CaptureError as StreamCapture does, as
/// if nothing was recorded, unless `options.allow_empty`.
template <detail::CaptureFunction Callable>
[[nodiscard]] auto capture( // cudag: capture(stream, function) calls function(cudaStream_t) or (StreamCapture&)
    StreamRef stream, Callable&& function, CaptureOptions options = {},
    SourceLocation location = SourceLocation::current()) {
    StreamCapture guard(stream, options, location);
    using Result = decltype(detail::call_captured(function, guard));
    static_assert(!std::is_reference_v<Result>,
                  "cudag: capture() hands out what the function returns, which must be a value, not a reference");
    if constexpr (std::is_void_v<Result>) {
        detail::call_captured(function, guard);
        return std::move(guard).finish();
    } else {
        Result output = detail::call_captured(function, guard);
        return Captured<Result>{std::move(guard).finish(), std::move(output)};
    }
}

} // namespace cudag
