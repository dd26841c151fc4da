// Names of the driver functions behind the runtime's.
#pragma once

#include <string>
#include <string_view>

namespace cudart_cpu::detail {

/// Returns the name in the driver's log for a function of the runtime or driver API: "cuMemAlloc_v2" for "cudaMalloc".
std::string driver_function_name(std::string_view api_name);

} // namespace cudart_cpu::detail
