// The locks of graphs.
#pragma once

#include "cuda/light_mutex.hpp"

#include <mutex>

namespace cudag::detail {

class GraphState;

/// Locks the root of `graph`: see GraphState::lock.
[[nodiscard]] std::unique_lock<LightMutex> lock_of(const GraphState& graph);

/// Whether some thread holds that lock.
[[nodiscard]] bool is_locked(const GraphState& graph) noexcept;

/// Holds the locks of two graphs, possibly the same graph.
class GraphLocks {
  public:
    GraphLocks(const GraphState& a, const GraphState& b);

  private:
    std::unique_lock<LightMutex> first_;
    std::unique_lock<LightMutex> second_;
};

} // namespace cudag::detail
