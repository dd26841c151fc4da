// The host memory used by copies of a graph.
#pragma once

#include <cudag/host_memory.hpp>

#include <vector>

namespace cudag::detail {

class GraphState;

/// Returns the host memory of `graph` and all graphs inside it, in order of the nodes. Throws GraphError.
[[nodiscard]] std::vector<cudag::HostMemory> all_host_memory_of(const GraphState& graph);

} // namespace cudag::detail
