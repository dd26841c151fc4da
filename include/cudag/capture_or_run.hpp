// capture_or_run(): runs a function as a graph, or eagerly where it cannot be captured.
#pragma once

#include <cudag/capture_mode.hpp>
#include <cudag/config.hpp>
#include <cudag/error.hpp>
#include <cudag/exec.hpp>
#include <cudag/source_location.hpp>
#include <cudag/steps.hpp>
#include <cudag/stream.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace cudag {

/// How a function is captured that runs eagerly where that fails.
struct CaptureOrRunOptions {
    CaptureMode mode = CaptureMode::thread_local_;
    /// As in CaptureOptions: such work of other threads fails during the capture, too. False lets it through, so that
    /// the function's runs whenever it is called: twice if the capture breaks later, and in no replay.
    bool refuse_legacy_stream = true;
    InstantiateOptions instantiate = {};
};

/// What `capture_or_run` did, and what the function returned.
template <class Output = void>
struct CapturedOrRun;

template <>
struct CapturedOrRun<void> {
    std::optional<Exec> exec;   ///< of the captured graph, launched once; none if the function ran eagerly
    std::optional<Error> error; ///< why it did: the text, and in `labels()` the step
};

template <class Output>
struct CapturedOrRun : CapturedOrRun<void> {
    Output output;
};

namespace detail {

/// A function that is called with Steps; borrowed.
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

/// Captures `function`, which is called with the stream or a Steps&, and launches the graph once in `stream`. If it
/// cannot be captured or instantiated, it is called again and runs eagerly; the result says why. So it runs eagerly in
/// the legacy default stream, and in a stream that is being captured, whose capture it becomes part of.
/// What it enqueues into `stream`, streams that forked from it and the legacy default stream runs on the device once,
/// in either case. What it does on the host, and enqueues into other streams, is done at each call, and so twice if the
/// capture fails; but a function that recorded nothing has done all that it does, and is not called again.
/// The Exec replays it; memory is borrowed as StreamCapture says. If the function returns a value (not a reference),
/// that of its last call comes with the result.
/// What `function` throws passes through, unless it is a CaptureError or the capture was broken by then: then the eager
/// call tells what is its own. Throws Error if CUDA refuses the launch. Asynchronous. Other threads must not use
/// `stream` meanwhile.
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
