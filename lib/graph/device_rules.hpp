// The rules of graphs that kernels launch or change.
#pragma once

#include "find.hpp"
#include "graph_state.hpp"

namespace cudag::detail {

/// Throws InstantiateError if the graph has something in it that a graph launched by kernels cannot have.
void require_device_launchable(const GraphState& graph);

/// The first device-updatable node of `graph`, or of a graph inside it.
[[nodiscard]] NodePlace find_device_updatable(const GraphState& graph);

} // namespace cudag::detail
