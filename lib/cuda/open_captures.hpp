// The captures that each thread has under way: work of cudag's own calls must not go past them.
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

/// How many captures of cudag's are under way, of all threads: without one, a launch takes a load.
inline std::atomic<unsigned> open_captures = 0;
/// The stream that was captured last, while it is: work in it is recorded, whoever asks.
inline std::atomic<cudaStream_t> latest_captured = nullptr;

/// A capture under way, as the thread that made this object knows it until `end`, which any thread may call.
class OpenCapture {
  public:
    /// `mode` is a literal: "thread-local".
    OpenCapture(cudaStream_t stream, const SourceLocation& location, const char* mode);
    ~OpenCapture() { end(); }
    OpenCapture(const OpenCapture&) = delete;
    OpenCapture& operator=(const OpenCapture&) = delete;

    void end() noexcept;
    /// A step begins; `label` lives until it ends. Steps end in the reverse order.
    void begin_step(std::string_view label, const SourceLocation& location);
    void end_step() noexcept;
    /// " in step "gemm" at f.cpp:14", the innermost; empty outside of steps.
    [[nodiscard]] std::string step_text() const;
    /// What `require_recorded` has refused since the last time; empty if nothing.
    [[nodiscard]] std::string take_refused();
    /// Work in the legacy default stream may run at once.
    void allow_legacy_stream() noexcept;

  private:
    std::shared_ptr<OpenCaptureRecord> record_;
};

/// What `require_recorded` does while there are captures.
void require_recorded_now(cudaStream_t stream, const std::function<Subject()>& subject);

/// Throws CaptureError if this thread has a capture under way, and work in `stream` is not recorded: it would run once,
/// now, and be missing in every replay. Unless ThreadCaptureMode(CaptureMode::relaxed) allows it. The capture notes
/// what was refused, since the caller may swallow the error. `subject()` is the call, for the error.
template <class Subjects>
void require_recorded(cudaStream_t stream, const Subjects& subject) {
    if (open_captures.load(std::memory_order_relaxed) == 0) [[likely]]
        return;
    if (stream != nullptr && stream == latest_captured.load(std::memory_order_relaxed)) return;
    require_recorded_now(stream, subject);
}

} // namespace cudag::detail
