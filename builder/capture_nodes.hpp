// Nodes written into a running capture, behind its front.
#pragma once

#include "capture/capture_state.hpp"

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

namespace cudag::detail {

class GraphState;

/// Calls `function(graph)` to add nodes to the graph of a capture: behind all work recorded in `stream`, which is in
/// the capture, and before its next work. Throws CaptureError, about `call`, and what `function` throws; the capture
/// is broken then if nodes were added.
void add_to_capture(CaptureState& state, cudaStream_t stream, const CaptureCall& call,
                    const std::function<void(const std::shared_ptr<GraphState>&)>& function);

} // namespace cudag::detail
