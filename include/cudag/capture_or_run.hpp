// capture_or_run(): runs a function as a graph, or eagerly if it cannot be captured.
#pragma once

#include <cudag/capture_mode.hpp>
#include <cudag/config.hpp>
#include <cudag/error.hpp>
#include <cudag/exec.hpp>
#include <cudag/segmented_graph.hpp>
#include <cudag/source_location.hpp>
#include <cudag/steps.hpp>
#include <cudag/stream.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace cudag {

/// The options of `capture_or_run`.
struct CaptureOrRunOptions {
    CaptureMode mode = CaptureMode::thread_local_;
    /// Makes CUDA refuse work in the legacy default stream during the capture, on other threads, too; see
    /// CaptureOptions. If false, such work runs immediately at each call of the function instead of being recorded:
    /// again if the capture breaks later, and never in a replay.
    bool refuse_legacy_stream = true;
    InstantiateOptions instantiate = {};
};

/// The result of `capture_or_run`: the Exec or the error, and the function's return value.
template <class Output = void>
struct CapturedOrRun;

template <>
struct CapturedOrRun<void> {
    std::optional<Exec> exec; ///< Exec of the captured graph, launched once; none with breaks, and after an eager run
    std::optional<SegmentedGraph> segments; ///< segments of a function with breaks (Steps::eager), launched once
    std::optional<Error> error;             ///< reason for an eager run: the text, and in `labels()` the step
};

template <class Output>
struct CapturedOrRun : CapturedOrRun<void> {
    Output output;
};

namespace detail {

/// A type-erased function taking Steps&, borrowed.
struct StepsCall {
    void* object;
    void (*call)(void* object, Steps& steps);
};

[[nodiscard]] CUDAG_EXPORT CapturedOrRun<> capture_or_run(cudaStream_t stream, const StepsCall& function,
                                                          const CaptureOrRunOptions& options,
                                                          const SourceLocation& location);

template <class Callable>
StepsCall steps_call(Callable& function) {
    return {&function, [](void* object, Steps& steps) { (*static_cast<Callable*>(object))(steps); }};
}

} // namespace detail

/// Captures `function`, called with the stream or a Steps&, and launches the graph once in `stream`. If the capture or
/// the instantiation fails, calls `function` again to run eagerly.
///
///     auto ran = cudag::capture_or_run(stream, [&](cudaStream_t s) { library_call(s, x.data(), n); });
///     if (ran.exec)
///         ran.exec->launch(stream); // replays it
///     else
///         std::puts(ran.error->what());
///
/// Asynchronous. The result holds the Exec for replays, or the reason for the eager run. If the function returns a
/// value (not a reference), the result also holds the value of the last call. Memory is borrowed as in StreamCapture.
/// - With Steps::eager, the result holds `segments` instead of `exec`: their launches call the functions given to
///   `eager`, which are kept. What these refer to must outlive the last launch.
/// - If `stream` is the legacy default stream, or is already being captured, the function runs eagerly; in the latter
///   case its work becomes part of that capture.
/// - Work enqueued into `stream` and the streams forked from it runs on the device once, in any case. With
///   `refuse_legacy_stream`, so does work enqueued into the legacy default stream.
/// - Host work, and work enqueued into other streams, runs at each call: twice if the capture fails. But a function
///   without any recorded node has already done all its work, and is not called again.
/// - Exceptions of `function` pass through. But after a CaptureError, and after any exception in a broken capture, the
///   function is called again, eagerly; exceptions of that call pass through.
/// Throws CaptureError if this thread is capturing another stream (see StreamCapture), and Error if CUDA refuses the
/// launch. Other threads must not use `stream` during the call.
template <detail::StepsFunction Callable>
auto capture_or_run( // cudag: capture_or_run(stream, function) calls function(cudaStream_t) or function(cudag::Steps&)
    StreamRef stream, Callable&& function, CaptureOrRunOptions options = {},
    SourceLocation location = SourceLocation::current()) {
    using Result = decltype(detail::call_with_steps(function, std::declval<Steps&>()));
    static_assert(
        !std::is_reference_v<Result>,
        "cudag: capture_or_run() hands out what the function returns, which must be a value, not a reference");
    if constexpr (std::is_void_v<Result>) {
        auto call = [&](Steps& steps) { detail::call_with_steps(function, steps); };
        return detail::capture_or_run(stream.get(), detail::steps_call(call), options, location);
    } else {
        std::optional<Result> output;
        auto call = [&](Steps& steps) { output.emplace(detail::call_with_steps(function, steps)); };
        CapturedOrRun<> ran = detail::capture_or_run(stream.get(), detail::steps_call(call), options, location);
        return CapturedOrRun<Result>{std::move(ran), *std::move(output)};
    }
}

} // namespace cudag
