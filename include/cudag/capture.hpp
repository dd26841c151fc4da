// capture(): the capture of existing stream code as a Graph, in one line.
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

/// A captured graph together with the captured function's return value. The graph does not keep the value alive.
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

/// Captures the work enqueued by `function` into `stream`, and returns the Graph (stream capture). Nothing runs until
/// the graph is launched.
///
///     cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) { library_call(s, x.data(), n); });
///     cudag::Exec exec = graph.instantiate();
///     exec.launch(stream);
///
/// The function is called once, with the stream or with a StreamCapture&, for steps, forks and owners. If it returns a
/// value (not a reference), the result is a Captured: the graph and the value. Memory is borrowed as in StreamCapture.
/// Exceptions of `function` pass through, and leave the stream usable. Throws CaptureError as StreamCapture does, for
/// example if nothing was recorded, unless `options.allow_empty`.
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
