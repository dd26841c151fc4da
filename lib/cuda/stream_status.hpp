// CUDA's view of a stream: whether it is being captured.
#pragma once

#include "failure.hpp"

#include <cuda_runtime_api.h>

#include <optional>

namespace cudag::detail {

/// The status of the stream's capture. Throws E.
template <class E = Error>
[[nodiscard]] cudaStreamCaptureStatus capture_status_of(cudaStream_t stream) {
    auto status = cudaStreamCaptureStatusNone;
    checked<E>(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
    return status;
}

/// Whether the stream is being captured, even if the capture is broken. Throws E.
template <class E = Error>
[[nodiscard]] bool is_captured(cudaStream_t stream) {
    return capture_status_of<E>(stream) != cudaStreamCaptureStatusNone;
}

/// The status of the stream's capture; nothing if CUDA fails, which leaves no last error.
[[nodiscard]] inline std::optional<cudaStreamCaptureStatus> find_capture_status(cudaStream_t stream) noexcept {
    auto status = cudaStreamCaptureStatusNone;
    const cudaError_t result = cudaStreamIsCapturing(stream, &status);
    ignore(result);
    return result == cudaSuccess ? std::optional(status) : std::nullopt;
}

} // namespace cudag::detail
