// Host memory that is not page-locked, which CUDA does not copy in the bodies of conditionals.
#pragma once

#include "graph_state.hpp"

namespace cudag::detail {

/// Whether `params` are those of a copy from or to pageable host memory.
[[nodiscard]] bool copies_pageable(const NodeParams& params);

/// Throws GraphError if `graph` is in a body, and such a copy is to be added to it.
void require_page_locked(const GraphState& graph, const NodeParams& params, const SourceLocation& where);

} // namespace cudag::detail
