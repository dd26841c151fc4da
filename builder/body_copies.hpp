// Checks for copies refused by CUDA in the bodies of conditionals: of arrays, and of pageable host memory.
#pragma once

#include "node/node_params.hpp"

#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

namespace cudag::detail {

class GraphState;

/// Throws GraphError if `graph` is in a body and cannot take the new copy.
void require_body_copy(const GraphState& graph, NodeKind kind, const NodeParams& params, const SourceLocation& where);

} // namespace cudag::detail
