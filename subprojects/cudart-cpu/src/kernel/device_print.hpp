// printf in kernels.
#pragma once

namespace cudart_cpu::detail {

/// Prints the packed arguments by the format to stdout, at once. Returns the number of arguments taken, as CUDA's
/// printf does.
unsigned print_from_kernel(const char* format, const void* arguments);

} // namespace cudart_cpu::detail
