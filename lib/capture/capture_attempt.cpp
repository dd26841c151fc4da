// An attempt to capture a function: what is put down to the capture, and what is the function's own.
#include "capture_attempt.hpp"

#include "capture_state.hpp"
#include "cuda/failure.hpp"

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

bool is_put_down_to_capture(const Error& error) noexcept {
    return dynamic_cast<const CaptureError*>(&error) != nullptr ||
           is_about_capture(static_cast<cudaError_t>(error.code().value()));
}

} // namespace

void CaptureAttempt::record(cudaStream_t stream, const AttemptSetup& setup,
                            const std::function<std::shared_ptr<const void>(Steps&)>& function) {
    const CaptureOptions options{.mode = setup.mode, .refuse_legacy_stream = setup.refuse_legacy_stream};
    auto owned = std::make_unique<CaptureState>(stream, options, setup.location);
    const CaptureState& state = *owned;
    StreamCapture capture(Passkey(), std::move(owned));
    Steps steps(Passkey(), capture);
    try { // whatever is thrown once the capture is broken is put down to that: its end tells the cause
        if (const std::shared_ptr<const void> kept = function(steps)) capture.retain(kept);
    } catch (const Error& cause) {
        if (is_put_down_to_capture(cause)) {
            error = cause;
            return;
        }
        if (!is_broken(capture)) throw;
    } catch (...) {
        if (!is_broken(capture)) throw;
    }
    try {
        exec = std::move(capture).finish().instantiate(setup.instantiate);
    } catch (const CaptureError&) {
        recorded_nothing_ = state.recorded_nothing();
        throw;
    }
}

CaptureAttempt::CaptureAttempt(cudaStream_t stream, const AttemptSetup& setup,
                               const std::function<std::shared_ptr<const void>(Steps&)>& function) {
    try {
        record(stream, setup, function);
    } catch (const CaptureError& cause) {
        error = cause;
    } catch (const InstantiateError& cause) {
        error = cause;
    }
}

} // namespace cudag::detail
