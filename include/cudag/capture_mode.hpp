// Which calls of CUDA a stream capture forbids, and to which threads.
#pragma once

#include <cudag/config.hpp>
#include <cudag/stream.hpp>

#include <driver_types.h>

namespace cudag {

/// What a capture protects itself against: calls that CUDA calls potentially unsafe, such as cudaMalloc, because they
/// are not recorded and yet the recorded work may depend on them. The values are those of `cudaStreamCaptureMode`.
enum class CaptureMode : unsigned {
    global = cudaStreamCaptureModeGlobal,             ///< forbids them to every thread that is not relaxed
    thread_local_ = cudaStreamCaptureModeThreadLocal, ///< forbids them to the thread that captures
    relaxed = cudaStreamCaptureModeRelaxed,           ///< forbids none
};

/// "global", "thread-local" or "relaxed".
[[nodiscard]] CUDAG_EXPORT const char* to_string(CaptureMode mode) noexcept;

/// Whether a stream records; the values are those of `cudaStreamCaptureStatus`.
enum class CaptureStatus : unsigned {
    none = cudaStreamCaptureStatusNone,
    active = cudaStreamCaptureStatusActive,
    invalidated = cudaStreamCaptureStatusInvalidated, ///< a forbidden call broke the capture: only its end is possible
};

/// "none", "active" or "invalidated".
[[nodiscard]] CUDAG_EXPORT const char* to_string(CaptureStatus status) noexcept;

/// Whether `stream` records, whoever captures it. Breaks no capture. Throws CaptureError for the legacy default stream
/// while a blocking stream is captured, in which CUDA allows no question about it.
[[nodiscard]] CUDAG_EXPORT CaptureStatus capture_status(StreamRef stream);

/// Sets how this thread lets captures restrict it, for the guard's lifetime: `relaxed` allows potentially unsafe calls
/// in spite of captures in this thread and others; `thread_local_` in spite of those in others. `global`, every
/// thread's mode at first, allows neither. (cudaThreadExchangeStreamCaptureMode)
class CUDAG_EXPORT ThreadCaptureMode {
  public:
    /// Throws Error if CUDA refuses.
    [[nodiscard]] explicit ThreadCaptureMode(CaptureMode mode);
    /// Brings back the mode that was; on the thread that made the guard.
    ~ThreadCaptureMode();
    ThreadCaptureMode(const ThreadCaptureMode&) = delete;
    ThreadCaptureMode& operator=(const ThreadCaptureMode&) = delete;

  private:
    cudaStreamCaptureMode previous_;
};

} // namespace cudag
