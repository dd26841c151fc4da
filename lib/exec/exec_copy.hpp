// Copies of graphs of which CUDA allows one exec at a time, for further execs.
#pragma once

#include <memory>

namespace cudag::detail {

class GraphState;

/// Writes the nodes of `graph`, a root with conditionals and without graph memory, into a clone, as they are in force.
/// CUDA gives both graphs the same numbers of conditions, so that arguments of one are right in the other. Throws
/// InstantiateError. Needs the lock of `graph`. Defined by the builder, which writes nodes.
[[nodiscard]] std::shared_ptr<GraphState> copy_for_exec(GraphState& graph);

} // namespace cudag::detail
