// Names of the driver's error codes.
#pragma once

namespace cudart_cpu::detail {

/// "CUDA_ERROR_INVALID_VALUE" for the number of a CUresult; null for what is none.
const char* driver_error_name(int code) noexcept;

} // namespace cudart_cpu::detail
