// An attempt to capture a function: what is put down to the capture, and what is the function's own.
#include "capture_attempt.hpp"

#include "capture_state.hpp"
#include <cudag/graph.hpp>
#include <cudag/stream_capture.hpp>

#include <utility>

namespace cudag::detail {

namespace {

bool is_broken(const StreamCapture& capture) noexcept {
    try {
        return capture.status() != CaptureStatus::active;
    } catch (const Error&) {
        return true;
    }
}

} // namespace

CaptureAttempt::CaptureAttempt(cudaStream_t stream, const AttemptSetup& setup,
                               const std::function<std::shared_ptr<const void>(Steps&)>& function) {
    const CaptureOptions options{.mode = setup.mode, .refuse_legacy_stream = setup.refuse_legacy_stream};
    std::unique_ptr<CaptureState> begun;
    try {
        begun = std::make_unique<CaptureState>(stream, options, setup.location);
    } catch (const CaptureError& cause) {
        error = cause;
        return;
    }
    const CaptureState& state = *begun;
    StreamCapture capture(Passkey(), std::move(begun));
    try { // whatever is thrown once the capture is broken is put down to that: its end tells the cause
        Steps steps(Passkey(), capture);
        if (const std::shared_ptr<const void> kept = function(steps)) capture.retain(kept);
    } catch (const CaptureError& cause) {
        error = cause;
        return;
    } catch (...) {
        if (!is_broken(capture)) throw;
    }
    try {
        exec = std::move(capture).finish().instantiate(setup.instantiate);
    } catch (const CaptureError& cause) {
        error = cause;
        recorded_nothing_ = state.recorded_nothing();
    } catch (const InstantiateError& cause) {
        error = cause;
    }
}

} // namespace cudag::detail
