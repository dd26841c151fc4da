// Functions for nodes that a test has the driver lack.
#pragma once

#include <string_view>

namespace cudart_cpu::detail {

/// Whether `function` is missing, by set_node_functions or CUDART_CPU_NODE_FUNCTIONS.
[[nodiscard]] bool is_missing(std::string_view function) noexcept;

/// Throws cudaErrorNotSupported if it is.
void refuse_missing(const char* function);

} // namespace cudart_cpu::detail
