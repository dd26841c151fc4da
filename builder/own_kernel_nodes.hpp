// Kernel nodes of cudag's own.
#pragma once

#include "node/kernel.hpp"

#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <string_view>

namespace cudag::detail {

class GraphState;

/// Adds a kernel node that sets `condition` to `value`, in a body about to end. The first call in a process loads the
/// kernel, in some 60 ms. Throws GraphError and adds nothing if CUDA refuses the node or is older than 12.8.
Node add_set_condition(GraphState& graph, cudaGraphConditionalHandle condition, unsigned value, std::string_view label,
                       const SourceLocation& where);

/// Adds an empty kernel node. Needs CUDA 12.8.
Node add_nothing(GraphState& graph, std::string_view label, const SourceLocation& where);

/// Whether one of these functions added a kernel node.
[[nodiscard]] bool is_own_kernel(const KernelParams& kernel) noexcept;

} // namespace cudag::detail
