// The context of a graph's launch: read by its kernels, and extended by their own launches.
#pragma once

#include "condition.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace cudart_cpu::detail {

struct Launch;

/// The graphs launched by kernels of a launch. Each runs after the graph launching it, since nothing in this graph may
/// wait for them: first the fire-and-forget launches, then the tail.
struct DeviceLaunches {
    std::mutex mutex;
    std::vector<std::shared_ptr<const Launch>> forgotten;
    std::vector<std::shared_ptr<const Launch>> tail;
};

struct LaunchContext {
    ConditionValues& conditions;
    const Launch& launch;
    const void* exec;                     ///< the launched exec, for comparisons only
    bool was_uploaded;                    ///< the exec's state before the launch
    std::uint64_t removals_at_submission; ///< see work_queue.hpp
    DeviceLaunches device_launches{};
};

/// The context of the launch with a node on this thread; null if there is none.
LaunchContext* current_launch() noexcept;

/// Makes `context` the current one of this thread.
class LaunchScope {
  public:
    explicit LaunchScope(LaunchContext* context) noexcept;
    LaunchScope(const LaunchScope&) = delete;
    LaunchScope& operator=(const LaunchScope&) = delete;
    ~LaunchScope();

  private:
    LaunchContext* outer_;
};

} // namespace cudart_cpu::detail
