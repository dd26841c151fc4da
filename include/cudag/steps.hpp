// Steps: names for a function's steps, and forks of its stream, in a capture and eagerly alike.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>
#include <cudag/stream_capture.hpp>

#include <cuda_runtime_api.h>

#include <concepts>
#include <functional>
#include <string_view>

namespace cudag {

/// The stream of a function called by `capture_or_run` or `CaptureCache::run`, with named steps, forks and joins.
///
///     cudag::Stream side;
///     cudag::capture_or_run(stream, [&](cudag::Steps& steps) {
///         steps.fork(side);
///         steps.step("scale", [&](cudaStream_t s) { cudag::launch(s, config, scale, x, 2.0f, n); });
///         cudag::clear_async(side, y);
///         steps.join(side);
///     });
///
/// If the function is being captured, the calls act as those of StreamCapture. In an eager run they call, fork and join
/// alike, without checks. Valid only during that call of the function, on its thread.
class CUDAG_EXPORT Steps {
  public:
    Steps(detail::Passkey, StreamCapture& capture) noexcept : stream_(capture.stream()), capture_(&capture) {}
    Steps(detail::Passkey, cudaStream_t stream) noexcept : stream_(stream) {}
    Steps(const Steps&) = delete;            // cudag: Steps stay where they are: pass them by reference
    Steps& operator=(const Steps&) = delete; // cudag: Steps stay where they are: pass them by reference

    /// Returns the stream for the function's work, borrowed.
    [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
    /// Returns whether this call of the function is being captured. If not, its work runs at once, unless someone else
    /// captures the stream.
    [[nodiscard]] bool is_captured() const noexcept { return capture_ != nullptr; }

    /// Calls `function(stream)` or `function()`, and returns its result. Throws as StreamCapture::step does.
    template <detail::CaptureStep Callable>
    decltype(auto) step( // cudag: step(label, function) calls function(cudaStream_t) or function()
        std::string_view label, Callable&& function, SourceLocation location = SourceLocation::current()) {
        return step(label, function, StepOptions(), location);
    }
    template <detail::CaptureStep Callable>
    decltype(auto) step( // cudag: step(label, function, options)
        std::string_view label, Callable&& function, StepOptions options,
        SourceLocation location = SourceLocation::current()) {
        if (capture_ != nullptr) return capture_->step(label, function, options, location);
        return detail::call_step(function, stream_);
    }

    /// Orders the work enqueued into `other` from now on after all work enqueued into this stream. `other` must be
    /// joined. Throws as StreamCapture::fork does; in an eager run, Error if CUDA refuses.
    void fork(StreamRef other, // cudag: fork(stream) takes the other stream
              SourceLocation location = SourceLocation::current());

    /// Orders the work enqueued into this stream from now on after all work enqueued into `other`. Throws as
    /// StreamCapture::join does; in an eager run, Error if CUDA refuses.
    void join(StreamRef other, // cudag: join(stream) takes the other stream
              SourceLocation location = SourceLocation::current());

  private:
    cudaStream_t stream_;
    StreamCapture* capture_ = nullptr; ///< null in an eager run
};

namespace detail {

template <class Callable>
concept StepsFunction = std::invocable<Callable&, cudaStream_t> || std::invocable<Callable&, Steps&>;

template <StepsFunction Callable>
decltype(auto) call_with_steps(Callable& function, Steps& steps) {
    if constexpr (std::invocable<Callable&, cudaStream_t>)
        return std::invoke(function, steps.stream());
    else
        return std::invoke(function, steps);
}

} // namespace detail

} // namespace cudag
