// Times of nodes: records of their runs.
#pragma once

#include "graph/graph_work.hpp"

#include <cudart_cpu/times.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace cudart_cpu::detail {

/// The records of an exec's launches. Launches in flight share it with the exec.
class NodeTimes {
  public:
    /// Numbers the next launch. Requires the graph lock.
    std::uint64_t next_launch() noexcept { return launches_++; }
    /// Adds a record; without memory for it, the run stays unrecorded.
    void add(const NodeTime& time) noexcept;
    std::vector<NodeTime> take();

  private:
    std::uint64_t launches_ = 0;
    std::mutex mutex_;
    std::vector<NodeTime> times_;
};

/// The records of one launch; `times` is null if it is not recorded.
struct LaunchTimes {
    std::shared_ptr<NodeTimes> times{};
    std::uint64_t launch = 0;
};

/// Wraps `work` of `node` in a record of its run. `launch.times` must not be null.
WorkPointer timed(WorkPointer work, cudaGraphNode_t node, const LaunchTimes& launch);

} // namespace cudart_cpu::detail
