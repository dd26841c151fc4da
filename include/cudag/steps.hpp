// Steps: names for a function's steps, and forks of its stream, in a capture and eagerly alike.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/eager_task.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/detail/step_guide.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>
#include <cudag/stream_capture.hpp>

#include <cuda_runtime_api.h>

#include <concepts>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

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
    Steps(detail::Passkey, StreamCapture& capture, detail::StepGuide* guide = nullptr) noexcept
        : stream_(capture.stream()), capture_(&capture), guide_(guide) {}
    explicit Steps(detail::Passkey, cudaStream_t stream, detail::StepGuide* guide = nullptr) noexcept
        : stream_(stream), guide_(guide) {}
    Steps(const Steps&) = delete;            // cudag: Steps stay where they are: pass them by reference
    Steps& operator=(const Steps&) = delete; // cudag: Steps stay where they are: pass them by reference

    /// Returns the stream for the function's work, borrowed.
    [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
    /// Returns whether this call of the function is being captured, or replays captured steps. If not, its work runs at
    /// once, unless someone else captures the stream.
    [[nodiscard]] bool is_captured() const noexcept {
        return capture_ != nullptr || (guide_ != nullptr && guide_->is_captured());
    }

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
        using Result = decltype(detail::call_step(function, stream_));
        if (guide_ == nullptr) return call(label, function, options, location);
        Guided guided(*this, {detail::StepKind::step, label, location, !std::is_void_v<Result>});
        if constexpr (std::is_void_v<Result>) {
            if (!guided.is_called()) return;
            call(label, function, options, location);
            guided.finish();
        } else {
            Result result = call(label, function, options, location);
            guided.finish();
            return result;
        }
    }

    /// Adds a break: `function(stream)` or `function()` runs eagerly in each run of the work, between graphs of the
    /// work before and after it. In a capture it is not called.
    /// - A CaptureCache calls the whole function in each replay of a key with breaks: it skips the steps, launches
    /// their
    ///   graphs, and calls the functions of breaks. So all work stands in steps and breaks, a step gets nothing from
    ///   other steps but device memory, and a break nothing from steps but device memory. See CaptureCache::run.
    /// - `capture_or_run` keeps the function for later launches, as StreamCapture::eager does, and throws as it does.
    template <class Callable>
    void eager( // cudag: eager(label, function) calls function(cudaStream_t) or function() in each run
        std::string_view label, Callable&& function, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_eager_function<Callable>()) {
            if (guide_ != nullptr) {
                Guided guided(*this, {detail::StepKind::eager, label, location});
                if (!guided.is_called()) return;
                detail::call_eager(function, stream_);
                guided.finish();
            } else if (capture_ != nullptr) {
                capture_->eager(label, std::forward<Callable>(function), location);
            } else {
                detail::call_eager(function, stream_);
            }
        }
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
    /// A step under way of a function with a guide; steps inside it have none.
    class Guided {
      public:
        Guided(Steps& steps, const detail::GuidedCall& call)
            : steps_(steps), guide_(*steps.guide_), is_called_(guide_.begin(call)) {
            if (is_called_) steps_.guide_ = nullptr;
        }
        ~Guided() {
            steps_.guide_ = &guide_;
            if (is_called_ && !is_finished_) guide_.end(true);
        }
        Guided(const Guided&) = delete;
        Guided& operator=(const Guided&) = delete;

        [[nodiscard]] bool is_called() const noexcept { return is_called_; }
        void finish() {
            is_finished_ = true;
            guide_.end(false);
        }

      private:
        Steps& steps_;
        detail::StepGuide& guide_;
        bool is_called_;
        bool is_finished_ = false;
    };

    template <class Callable>
    decltype(auto) call(std::string_view label, Callable& function, const StepOptions& options,
                        const SourceLocation& location) {
        if (capture_ != nullptr) return capture_->step(label, function, options, location);
        return detail::call_step(function, stream_);
    }

    cudaStream_t stream_;
    StreamCapture* capture_ = nullptr; ///< null in an eager run, and in a replay
    detail::StepGuide* guide_ = nullptr;
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
