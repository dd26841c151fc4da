// Steps: how a function names its steps, and forks, whether it is captured or runs eagerly.
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

/// What `capture_or_run` and `CaptureCache::run` hand to a function that asks for more than the stream. While it is
/// captured, the calls are those of the StreamCapture; eagerly they call, fork and join alike, and check nothing.
/// Good for that call of the function, on its thread.
class CUDAG_EXPORT Steps {
  public:
    Steps(detail::Passkey, StreamCapture& capture) noexcept : stream_(capture.stream()), capture_(&capture) {}
    Steps(detail::Passkey, cudaStream_t stream) noexcept : stream_(stream) {}
    Steps(const Steps&) = delete;            // cudag: Steps stay where they are: pass them by reference
    Steps& operator=(const Steps&) = delete; // cudag: Steps stay where they are: pass them by reference

    /// Where the work is to be enqueued, borrowed.
    [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
    /// Whether this call is captured. If not, what is enqueued runs at once, unless somebody else captures the stream.
    [[nodiscard]] bool is_captured() const noexcept { return capture_ != nullptr; }

    /// Calls `function(stream)` or `function()`, and returns what it returns. Throws as StreamCapture::step does.
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

    /// What is enqueued into `other` from now on comes after all that has been enqueued into this stream. `other` must
    /// be joined. Throws as StreamCapture::fork does; eagerly Error, if CUDA refuses.
    void fork(StreamRef other, // cudag: fork(stream) takes the other stream
              SourceLocation location = SourceLocation::current());

    /// What is enqueued into this stream from now on comes after all that has been enqueued into `other`. Throws as
    /// StreamCapture::join does; eagerly Error, if CUDA refuses.
    void join(StreamRef other, // cudag: join(stream) takes the other stream
              SourceLocation location = SourceLocation::current());

  private:
    cudaStream_t stream_;
    StreamCapture* capture_ = nullptr; ///< null: eagerly
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
