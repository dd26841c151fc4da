// CUDA's log of failures.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudag::detail {

/// CUDA's log of this thread's latest failure, which returned `status`: lines joined by "; ". Empty if CUDA logged
/// nothing, or its driver has no log (before 12.9). Leaves the last error as it is.
[[nodiscard]] std::string take_cuda_log(cudaError_t status);

/// A position in CUDA's log; empty if CUDA has no log.
using LogPosition = std::optional<std::uint32_t>;
/// The position of the next line. Leaves the last error as it is.
[[nodiscard]] LogPosition log_position() noexcept;

/// A failure in CUDA's log.
struct LoggedFailure {
    cudaError_t code;   ///< success if unknown, because the runtime itself failed
    std::string call;   ///< the driver's function, such as "cuMemAlloc_v2"; empty if unknown
    std::string causes; ///< lines joined by "; "
    bool on_this_thread;
};
/// The failures of all threads since `position`, in order.
[[nodiscard]] std::vector<LoggedFailure> failures_since(LogPosition position);

// Parsers of the log's text; `thread` is the id of the calling thread, in the log's form.

/// The causes of the thread's latest failure with `status`, as in take_cuda_log.
[[nodiscard]] std::string causes_in(std::string_view text, std::string_view thread, cudaError_t status);
[[nodiscard]] std::vector<LoggedFailure> failures_in(std::string_view text, std::string_view thread);

} // namespace cudag::detail
