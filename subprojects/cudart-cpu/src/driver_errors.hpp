// Names of the driver's error codes.
#pragma once

#include <cuda.h>

namespace cudart_cpu::detail {

/// "CUDA_ERROR_INVALID_VALUE"; null for what is no code.
const char* driver_error_name(CUresult result) noexcept;

} // namespace cudart_cpu::detail
