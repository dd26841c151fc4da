// Capture modes, and the guard of a thread's mode.
#include <cudag/capture_mode.hpp>

#include "cuda/failure.hpp"

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
    cudaStreamCaptureStatus status{};
    detail::checked(cudaStreamIsCapturing(stream.get(), &status), "cudaStreamIsCapturing");
    return static_cast<CaptureStatus>(status);
}

ThreadCaptureMode::ThreadCaptureMode(CaptureMode mode) : previous_(static_cast<cudaStreamCaptureMode>(mode)) {
    detail::checked(cudaThreadExchangeStreamCaptureMode(&previous_), "cudaThreadExchangeStreamCaptureMode");
}

ThreadCaptureMode::~ThreadCaptureMode() {
    detail::report_release(cudaThreadExchangeStreamCaptureMode(&previous_), "cudaThreadExchangeStreamCaptureMode");
}

} // namespace cudag
