// printf in kernels.
#pragma once

namespace cudart_cpu::detail {

/// Prints what the format and its packed arguments say to stdout, at once. Returns how many arguments it took, as
/// CUDA's printf does.
unsigned print_from_kernel(const char* format, const void* arguments);

} // namespace cudart_cpu::detail
