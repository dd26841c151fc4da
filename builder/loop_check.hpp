// Whether the loops of a graph can end.
#pragma once

#include "graph/graph_state.hpp"

namespace cudag::detail {

/// Throws GraphError for a `while_` that would repeat its body for ever, once it has begun: no kernel in its body takes
/// its condition as an argument, alone or in an object. Kernels whose arguments are unknown, or which other kernels may
/// change, count as if they did. Takes as long as there are bytes of arguments in loops.
void check_loops(const GraphState& graph);

} // namespace cudag::detail
