// Arguments of kernels and declared accesses, from the text of a graph.
#pragma once

#include "loaded_names.hpp"

#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/memory_block.hpp>

#include <cstddef>

namespace cudag::detail {

/// Reads an argument of a kernel to `to`: a number, an address, a condition, bytes, or a list of these.
void read_argument(LoadedNames& names, LineReader line, const Parameter& parameter, std::byte* to);

/// Reads a declared access.
[[nodiscard]] ArgumentAccess read_access(LoadedNames& names, LineReader line);

} // namespace cudag::detail
