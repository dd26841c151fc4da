// Kernel nodes that cudag adds by itself.
#pragma once

#include "graph/graph_state.hpp"

#include <string_view>

namespace cudag::detail {

/// Adds a kernel node that sets `condition` to `value`, in a body that is about to end. The first call in a process
/// loads the kernel, some 60 ms. Throws GraphError and adds nothing if CUDA refuses it, or is older than 12.8.
Node add_set_condition(GraphState& graph, cudaGraphConditionalHandle condition, unsigned value, std::string_view label,
                       const SourceLocation& where);

/// Adds a kernel node that does nothing. Needs CUDA 12.8.
Node add_nothing(GraphState& graph, std::string_view label, const SourceLocation& where);

/// Whether a kernel node was added by these.
[[nodiscard]] bool is_own_kernel(const KernelParams& kernel) noexcept;

} // namespace cudag::detail
