// Progress of submitted work.
#pragma once

#include "failure.hpp"

#include <cuda_runtime_api.h>

namespace cudag::detail {

enum class Progress { running, done, captured };

/// The progress of the work before `event` in its stream. `captured`: the event was recorded in a capture, and shows
/// nothing about work. `done` includes an error that ended the context: nothing runs any longer, and every call reports
/// the error. A failure of the call itself shows nothing, so the call is repeated; not after a rejection due to a
/// capture, since that may have broken the capture, which changes the event's answer.
[[nodiscard]] inline Progress progress_of(cudaEvent_t event) noexcept {
    cudaError_t status = cudaEventQuery(event);
    if (status != cudaSuccess && status != cudaErrorNotReady && !is_about_capture(status)) {
        ignore(status);
        status = cudaEventQuery(event);
    }
    if (status == cudaErrorNotReady) return Progress::running;
    ignore(status);
    return is_about_capture(status) ? Progress::captured : Progress::done;
}

} // namespace cudag::detail
