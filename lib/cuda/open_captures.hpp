// The open captures of each thread: work of cudag's own calls must not bypass them.
#pragma once

#include "failure.hpp"

#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace cudag::detail {

struct OpenCaptureRecord;

/// Number of cudag's open captures, of all threads, and of Execs that may be launched into captures of other code: if
/// it is 0, a launch checks only this.
inline std::atomic<unsigned> open_captures = 0;
/// The stream of the latest open capture: work in it is recorded, from any thread.
inline std::atomic<cudaStream_t> latest_captured = nullptr;

/// An open capture of the thread that made this object, until `end`, callable from any thread.
class OpenCapture {
  public:
    /// `mode` is a literal: "thread-local".
    OpenCapture(cudaStream_t stream, const SourceLocation& location, const char* mode);
    ~OpenCapture() { end(); }
    OpenCapture(const OpenCapture&) = delete;
    OpenCapture& operator=(const OpenCapture&) = delete;

    void end() noexcept;
    /// Begins a step; `label` must live until it ends. Steps end in reverse order.
    void begin_step(std::string_view label, const SourceLocation& location);
    void end_step() noexcept;
    /// The innermost step, " in step "gemm" at f.cpp:14"; empty outside of steps.
    [[nodiscard]] std::string step_text() const;
    /// The calls rejected by `require_recorded` since the last time; empty if none.
    [[nodiscard]] std::string take_refused();
    /// Notes another rejected call, whose work is missing in the capture; `what` may begin with "cudag: ".
    void note_refused(std::string_view what);
    /// Allows work in the legacy default stream to run immediately.
    void allow_legacy_stream() noexcept;

  private:
    std::shared_ptr<OpenCaptureRecord> record_;
};

/// The slow path of `require_recorded`, while there are captures.
void require_recorded_now(cudaStream_t stream, const std::function<Subject()>& subject);

/// Throws CaptureError if this thread has an open capture and work in `stream` is not recorded: it would run once, now,
/// and be missing in every replay. ThreadCaptureMode(CaptureMode::relaxed) allows such work. The capture records the
/// rejection, since the caller may swallow the error. `subject()` describes the call for the error.
template <class Subjects>
void require_recorded(cudaStream_t stream, const Subjects& subject) {
    if (open_captures.load(std::memory_order_relaxed) == 0) [[likely]]
        return;
    if (stream != nullptr && stream == latest_captured.load(std::memory_order_relaxed)) return;
    require_recorded_now(stream, subject);
}

} // namespace cudag::detail
