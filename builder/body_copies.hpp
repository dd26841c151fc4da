// Checks for copies refused by CUDA in the bodies of conditionals: of arrays, and of pageable host memory.
#pragma once

#include "graph/graph_state.hpp"

namespace cudag::detail {

/// Throws GraphError if `graph` is in a body and cannot take the new copy.
void require_body_copy(const GraphState& graph, NodeKind kind, const NodeParams& params, const SourceLocation& where);

} // namespace cudag::detail
