// CaptureMode, ThreadCaptureMode: CUDA calls forbidden during a stream capture; capture_status(): the state of a
// stream.
#pragma once

#include <cudag/config.hpp>
#include <cudag/stream.hpp>

#include <driver_types.h>

namespace cudag {

/// Scope of a capture's protection against potentially unsafe calls (CUDA's term), such as cudaMalloc: CUDA does not
/// record them, but recorded work may depend on them. A thread exempts itself by ThreadCaptureMode. The values equal
/// those of `cudaStreamCaptureMode`.
enum class CaptureMode : unsigned {
    global = cudaStreamCaptureModeGlobal,             ///< forbids these calls to all threads
    thread_local_ = cudaStreamCaptureModeThreadLocal, ///< forbids these calls to the capturing thread
    relaxed = cudaStreamCaptureModeRelaxed,           ///< forbids no calls
};

/// Returns "global", "thread-local" or "relaxed".
[[nodiscard]] CUDAG_EXPORT const char* to_string(CaptureMode mode) noexcept;

/// The capture status of a stream. The values equal those of `cudaStreamCaptureStatus`.
enum class CaptureStatus : unsigned {
    none = cudaStreamCaptureStatusNone,
    active = cudaStreamCaptureStatusActive,
    invalidated = cudaStreamCaptureStatusInvalidated, ///< a forbidden call broke the capture: it can only be ended
};

/// Returns "none", "active" or "invalidated".
[[nodiscard]] CUDAG_EXPORT const char* to_string(CaptureStatus status) noexcept;

/// Returns the capture status of `stream`, regardless of the capture's owner. Never breaks a capture. Throws
/// CaptureError for the legacy default stream during the capture of a blocking stream: CUDA then allows no query of it.
[[nodiscard]] CUDAG_EXPORT CaptureStatus capture_status(StreamRef stream);

/// Returns whether work in `stream` is being captured instead of run, regardless of the capture's owner; true also for
/// a broken capture that has not ended. Errors are those of `capture_status`.
///
///     if (!cudag::is_capturing(stream)) stream.synchronize();
[[nodiscard]] inline bool is_capturing(StreamRef stream) {
    return capture_status(stream) != CaptureStatus::none;
}

/// Sets the capture mode of this thread for the guard's lifetime (cudaThreadExchangeStreamCaptureMode): it decides
/// whether captures forbid potentially unsafe calls to this thread.
///
///     const cudag::ThreadCaptureMode allow_allocation(cudag::CaptureMode::relaxed);
///     void* memory = nullptr;
///     cudag::check(cudaMalloc(&memory, 1024)); // runs now, even during a capture
///
/// - `relaxed` allows these calls in spite of all captures, in this thread and in others,
/// - `thread_local_` allows them in spite of captures in other threads,
/// - `global`, the initial mode of every thread, allows them in neither case.
class CUDAG_EXPORT ThreadCaptureMode {
  public:
    /// Sets the mode. Throws Error if CUDA refuses.
    [[nodiscard]] explicit ThreadCaptureMode(CaptureMode mode);
    /// Restores the previous mode. It must run on the thread of the constructor.
    ~ThreadCaptureMode();
    ThreadCaptureMode(const ThreadCaptureMode&) = delete;
    ThreadCaptureMode& operator=(const ThreadCaptureMode&) = delete;

  private:
    cudaStreamCaptureMode previous_;
};

} // namespace cudag
