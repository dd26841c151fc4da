// The host memory that copies of a graph use.
#pragma once

#include "graph/graph_state.hpp"

#include <cudag/host_memory.hpp>

#include <vector>

namespace cudag::detail {

/// Of `graph` and all graphs inside it, in order of the nodes. Throws GraphError.
[[nodiscard]] std::vector<cudag::HostMemory> all_host_memory_of(const GraphState& graph);

} // namespace cudag::detail
