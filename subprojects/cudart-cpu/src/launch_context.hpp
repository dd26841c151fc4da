// What kernels of a graph's launch can ask about it.
#pragma once

#include "condition.hpp"

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

struct LaunchContext {
    ConditionValues& conditions;
    const void* exec; // only to be compared
    bool is_uploaded; // before the launch
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
