// The number of live execs of a graph.
#pragma once

#include <atomic>
#include <cstdint>

namespace cudag::detail {

class GraphState;

/// Counts the live execs of a graph: CUDA permits one exec only of some graphs.
class ExecCount {
  public:
    void add() noexcept { ++live_; }
    void remove() noexcept { --live_; }
    [[nodiscard]] bool any() const noexcept { return live_ != 0; }

  private:
    std::atomic<std::uint32_t> live_ = 0;
};

[[nodiscard]] ExecCount& execs_of(const GraphState& graph) noexcept;

} // namespace cudag::detail
