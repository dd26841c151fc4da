// The guards of launches, for all threads.
#include "launch_guards.hpp"

#include "cuda/launch_looks.hpp"
#include "cuda/never_destroyed.hpp"

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

using GuardList = std::vector<std::shared_ptr<LaunchGuard>>;

struct LaunchGuards {
    std::mutex mutex;
    GuardList list;
};

/// Never destroyed: Execs may end after static objects.
LaunchGuards& launch_guards() noexcept {
    return never_destroyed<LaunchGuards>();
}

/// The guards at present: they take locks of graphs, so they are not called under this lock.
GuardList present_guards() {
    const std::scoped_lock lock(launch_guards().mutex);
    return launch_guards().list;
}

} // namespace

void add_launch_guard(std::shared_ptr<LaunchGuard> guard) {
    const std::scoped_lock lock(launch_guards().mutex);
    launch_guards().list.push_back(std::move(guard));
    look_before_launches(LaunchLook::guarded, true);
}

void remove_launch_guard(const LaunchGuard* guard) noexcept {
    const std::scoped_lock lock(launch_guards().mutex);
    auto& list = launch_guards().list;
    std::erase_if(list, [guard](const auto& each) { return each.get() == guard; });
    if (list.empty()) look_before_launches(LaunchLook::guarded, false);
}

void guard_launch(const ExecState& exec) {
    const GuardList guards = present_guards();
    std::size_t done = 0;
    try {
        for (; done < guards.size(); ++done)
            guards[done]->check(exec);
    } catch (...) {
        while (done-- > 0)
            guards[done]->take_back(exec);
        throw;
    }
}

void guard_failed_launch(const ExecState& exec) noexcept {
    const std::scoped_lock lock(launch_guards().mutex);
    for (const auto& guard : launch_guards().list)
        guard->take_back(exec);
}

} // namespace cudag::detail
