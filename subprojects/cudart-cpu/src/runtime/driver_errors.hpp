// Names of the driver's error codes.
#pragma once

namespace cudart_cpu::detail {

/// Returns the name for the number of a CUresult, such as "CUDA_ERROR_INVALID_VALUE"; null for an unknown number.
const char* driver_error_name(int code) noexcept;

} // namespace cudart_cpu::detail
