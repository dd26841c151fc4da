// The loops of a graph: their ends, and the last kernels of their turns.
#pragma once

namespace cudag::detail {

class GraphState;

/// Throws GraphError for a `while_` that never ends once it has begun: no kernel in its body takes its condition as an
/// argument, alone or in an object. Kernels with unknown arguments, and device-updatable ones, count as if they took
/// it. Takes time proportional to the bytes of arguments in loops.
void check_loops(const GraphState& graph);

/// Adds an empty kernel after each kernel that sets a loop's condition as the last GPU work of a body. Without it,
/// launches of a graph with a loop and other conditionals end in cudaErrorLaunchFailure now and then (driver 580.159,
/// H200; without cudag, too). The kernel costs some 0.4 us a turn; an empty node does not help. Recognises a condition
/// as an argument, also as a CUDA handle, and whole in an object. Can be called again after a throw. Does nothing
/// before CUDA 12.8.
void end_turns(GraphState& root);

} // namespace cudag::detail
