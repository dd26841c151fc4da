// The loops of a graph: whether they can end, and what comes after the kernels that end them.
#pragma once

#include "graph/graph_state.hpp"

namespace cudag::detail {

/// Throws GraphError for a `while_` that would repeat its body for ever, once it has begun: no kernel in its body takes
/// its condition as an argument, alone or in an object. Kernels whose arguments are unknown, or which other kernels may
/// change, count as if they did. Takes as long as there are bytes of arguments in loops.
void check_loops(const GraphState& graph);

/// Where a graph has a loop and other conditionals, launches end in cudaErrorLaunchFailure now and then (driver
/// 580.159, H200; without cudag, too) if in a body nothing that runs on the GPU comes after the kernel that sets the
/// loop's condition: lets a kernel that does nothing come after each such kernel, some 0.4 us a turn. An empty node
/// does not help. Can be called again where it threw. A condition is seen as an argument, as a CUDA handle, too, and
/// whole in an object. Does nothing before CUDA 12.8.
void end_turns(GraphState& root);

} // namespace cudag::detail
