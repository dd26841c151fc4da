// cudag's own kernel: sets a condition to a value.
#pragma once

#include "graph/graph_state.hpp"

#include <string_view>

namespace cudag::detail {

/// Adds a kernel node that sets `condition` to `value`. The first call in a process loads the kernel, some 60 ms.
/// Throws GraphError and adds nothing if CUDA refuses it, or is older than 12.8.
Node add_set_condition(GraphState& graph, cudaGraphConditionalHandle condition, unsigned value, std::string_view label,
                       const SourceLocation& where);

/// Whether a kernel node was added by that.
[[nodiscard]] bool is_set_condition(const KernelParams& kernel) noexcept;

} // namespace cudag::detail
