// The locks of two graphs.
#pragma once

#include "graph_state.hpp"

#include <mutex>

namespace cudag::detail {

/// Holds the locks of two graphs, possibly the same graph.
class GraphLocks {
  public:
    GraphLocks(const GraphState& a, const GraphState& b)
        : first_(a.lock(std::defer_lock)),
          second_(&a.root() == &b.root() ? decltype(second_)() : b.lock(std::defer_lock)) {
        if (second_.mutex() == nullptr)
            first_.lock();
        else
            std::lock(first_, second_);
    }

  private:
    std::unique_lock<LightMutex> first_;
    std::unique_lock<LightMutex> second_;
};

} // namespace cudag::detail
