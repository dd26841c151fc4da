// CUDA's own account of what went wrong.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>

namespace cudag::detail {

/// What CUDA logged on this thread about its latest failure, which returned `status`: lines joined by "; ". Empty if
/// CUDA said nothing, or has no log (before 12.9). Leaves the last error as it is.
[[nodiscard]] std::string take_cuda_log(cudaError_t status);

/// A place in CUDA's log.
struct LogPosition {
    std::uint32_t next = 0;
};
/// Where the next line will be.
[[nodiscard]] LogPosition log_position() noexcept;

/// A failure as CUDA logged it.
struct LoggedFailure {
    cudaError_t code;
    std::string call;   ///< the driver's function, such as "cuMemAlloc_v2"
    std::string causes; ///< lines joined by "; "
    bool on_this_thread;
};
/// The first failure of any thread since `position` whose code is about stream capture; nothing if there is none.
[[nodiscard]] std::optional<LoggedFailure> first_capture_failure(LogPosition position);

/// cudaErrorStreamCaptureUnsupported (900) to cudaErrorStreamCaptureWrongThread (908).
[[nodiscard]] constexpr bool is_about_capture(cudaError_t code) noexcept {
    return code >= cudaErrorStreamCaptureUnsupported && code <= cudaErrorStreamCaptureWrongThread;
}

} // namespace cudag::detail
