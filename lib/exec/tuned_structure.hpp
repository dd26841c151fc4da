// The structure of a graph, by which a saved plan knows it in another process.
#pragma once

#include <cudag/tuned_plan.hpp>

namespace cudag::detail {

class GraphState;

/// Returns the structure of `graph` and the graphs inside it: nothing that differs between processes, no order of the
/// list of edges. Requires the lock of a root that is read. Throws GraphError.
[[nodiscard]] TunedStructure tuned_structure_of(const GraphState& graph);

} // namespace cudag::detail
