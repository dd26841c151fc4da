// Capture modes, and the guard that sets a thread's.
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

ThreadCaptureMode::ThreadCaptureMode(CaptureMode mode) : previous_(static_cast<cudaStreamCaptureMode>(mode)) {
    detail::checked(cudaThreadExchangeStreamCaptureMode(&previous_), "cudaThreadExchangeStreamCaptureMode");
}

ThreadCaptureMode::~ThreadCaptureMode() {
    detail::ignore(cudaThreadExchangeStreamCaptureMode(&previous_));
}

} // namespace cudag
