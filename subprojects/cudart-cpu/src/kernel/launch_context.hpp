// What kernels of a graph's launch can ask about it, and what they add to it.
#pragma once

#include "condition.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace cudart_cpu::detail {

struct Launch;

/// The graphs that kernels of a launch have launched. Each runs after the graph that launched it, since nothing in it
/// may wait for them: first those that were fired and forgotten, then the tail.
struct DeviceLaunches {
    std::mutex mutex;
    std::vector<std::shared_ptr<const Launch>> forgotten;
    std::vector<std::shared_ptr<const Launch>> tail;
};

struct LaunchContext {
    ConditionValues& conditions;
    const Launch& launch;
    const void* exec;                     ///< whose launch it is, only to be compared
    bool was_uploaded;                    ///< before the launch
    std::uint64_t removals_at_submission; ///< as work_queue.hpp has it
    DeviceLaunches device_launches{};
};

/// Of the launch whose node this thread runs; null if it runs none.
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
