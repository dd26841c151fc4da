// CUDA's own account of what went wrong.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace cudag::detail {

/// What CUDA logged on this thread about its latest failure, which returned `status`: lines joined by "; ". Empty if
/// CUDA said nothing, or has no log (before 12.9). Leaves the last error as it is.
[[nodiscard]] std::string take_cuda_log(cudaError_t status);

} // namespace cudag::detail
