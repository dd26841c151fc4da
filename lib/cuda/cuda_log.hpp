// CUDA's own account of what went wrong.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudag::detail {

/// What CUDA logged on this thread about its latest failure, which returned `status`: lines joined by "; ". Empty if
/// CUDA said nothing, or its driver has no log (before 12.9). Leaves the last error as it is.
[[nodiscard]] std::string take_cuda_log(cudaError_t status);

/// A place in CUDA's log; none if CUDA has no log.
using LogPosition = std::optional<std::uint32_t>;
/// Where the next line will be. Leaves the last error as it is.
[[nodiscard]] LogPosition log_position() noexcept;

/// A failure as CUDA logged it.
struct LoggedFailure {
    cudaError_t code;   ///< success if it is not known, because the runtime's own end failed
    std::string call;   ///< the driver's function, such as "cuMemAlloc_v2"; empty if not known
    std::string causes; ///< lines joined by "; "
    bool on_this_thread;
};
/// The failures of all threads since `position`, as they happened.
[[nodiscard]] std::vector<LoggedFailure> failures_since(LogPosition position);

// What a text of CUDA's log says; `thread` is the id of the calling one, as the log writes it.

/// Of its latest failure that returned `status`, as take_cuda_log does.
[[nodiscard]] std::string causes_in(std::string_view text, std::string_view thread, cudaError_t status);
[[nodiscard]] std::vector<LoggedFailure> failures_in(std::string_view text, std::string_view thread);

} // namespace cudag::detail
