// Copies that CUDA does not run in the bodies of conditionals: of arrays, and of host memory that is not page-locked.
#pragma once

#include "graph/graph_state.hpp"

namespace cudag::detail {

/// Throws GraphError if `graph` is in a body, and a copy that it does not take is to be added to it.
void require_body_copy(const GraphState& graph, NodeKind kind, const NodeParams& params, const SourceLocation& where);

} // namespace cudag::detail
