// Whether CUDA has done what it was given.
#pragma once

#include "failure.hpp"

#include <cuda_runtime_api.h>

namespace cudag::detail {

enum class Progress { running, done, captured };

/// Of what is before `event` in its stream; captured: it was recorded in a capture, and says nothing of work. Done also
/// after an error that ended the context: nothing runs any more, and every call says so. A call that fails by itself
/// tells nothing, so it is made again; not one that a capture refuses, as the refusal may have broken the capture, and
/// the event says something else from then on.
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
