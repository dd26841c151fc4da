// The rules for graphs with device-side launch or device-updatable nodes.
#pragma once

#include "find.hpp"

namespace cudag::detail {

class GraphState;

/// Throws InstantiateError if CUDA cannot launch the graph from a kernel (device-side graph launch).
void require_device_launchable(const GraphState& graph);

/// Returns the first device-updatable node of `graph`, or of a graph inside it.
[[nodiscard]] NodePlace find_device_updatable(const GraphState& graph);

} // namespace cudag::detail
