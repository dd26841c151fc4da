// Copies that CUDA does not run in the bodies of conditionals: of arrays, and of host memory that is not page-locked.
#pragma once

#include "graph/graph_state.hpp"

namespace cudag::detail {

/// Why a body takes no copy with these parameters, and what to do; null if it takes it, or they are of no copy.
[[nodiscard]] const char* why_not_in_body(const NodeParams& params);

/// Throws GraphError if `graph` is in a body, and a copy that it does not take is to be added to it.
void require_body_copy(const GraphState& graph, const NodeParams& params, const SourceLocation& where);

} // namespace cudag::detail
