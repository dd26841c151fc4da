// A guard for nodes that the library adds to a builder's graph.
#pragma once

#include "cuda/device_guard.hpp"
#include "cuda/numbered_contexts.hpp"

#include <cudag/detail/builder_graph.hpp>

#include <optional>

namespace cudag::detail {

/// Makes a device current for a scope, or gives new nodes of a graph the green context with this number.
class PlacedIn {
  public:
    /// Throws Error if CUDA cannot.
    PlacedIn(GraphState& graph, int device) {
        if (is_context_number(device))
            context_.emplace(graph, device);
        else
            device_.emplace(device);
    }

  private:
    std::optional<BuilderGraph> context_;
    std::optional<DeviceGuard> device_;
};

} // namespace cudag::detail
