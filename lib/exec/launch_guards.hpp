// Guards of launches: checks that look at each Exec before its launch, and may refuse it.
#pragma once

#include <memory>

namespace cudag::detail {

class ExecState;

/// A check of launches. Its functions are called by all threads that launch.
class LaunchGuard {
  public:
    LaunchGuard() = default;
    virtual ~LaunchGuard() = default;
    LaunchGuard(const LaunchGuard&) = delete;
    LaunchGuard& operator=(const LaunchGuard&) = delete;

    /// Throws to refuse a launch that is about to happen.
    virtual void check(const ExecState& exec) = 0;
    /// Takes the last `check` back: the launch failed.
    virtual void take_back(const ExecState&) noexcept {}
};

/// Makes launches call `guard`, until `remove_launch_guard`.
void add_launch_guard(std::shared_ptr<LaunchGuard> guard);
void remove_launch_guard(const LaunchGuard* guard) noexcept;

/// Call all guards before a launch, and after its failure.
void guard_launch(const ExecState& exec);
void guard_failed_launch(const ExecState& exec) noexcept;

} // namespace cudag::detail
