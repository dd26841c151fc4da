// Capture modes, and the guard of a thread's mode.
#include <cudag/capture_mode.hpp>

#include "cuda/failure.hpp"
#include "cuda/stream_status.hpp"

namespace cudag {

const char* to_string(CaptureMode mode) noexcept {
    switch (mode) {
    case CaptureMode::global:
        return "global";
    case CaptureMode::thread_local_:
        return "thread-local";
    case CaptureMode::relaxed:
        return "relaxed";
    }
    return "unknown";
}

const char* to_string(CaptureStatus status) noexcept {
    switch (status) {
    case CaptureStatus::none:
        return "none";
    case CaptureStatus::active:
        return "active";
    case CaptureStatus::invalidated:
        return "invalidated";
    }
    return "unknown";
}

CaptureStatus capture_status(StreamRef stream) {
    return static_cast<CaptureStatus>(detail::capture_status_of(stream.get()));
}

ThreadCaptureMode::ThreadCaptureMode(CaptureMode mode) : previous_(static_cast<cudaStreamCaptureMode>(mode)) {
    detail::checked(cudaThreadExchangeStreamCaptureMode(&previous_), "cudaThreadExchangeStreamCaptureMode");
}

ThreadCaptureMode::~ThreadCaptureMode() {
    detail::report_release(cudaThreadExchangeStreamCaptureMode(&previous_), "cudaThreadExchangeStreamCaptureMode");
}

} // namespace cudag
