// The memory that CapturePools have released, for all threads.
#include "released_memory.hpp"

#include "launch_looks.hpp"
#include "never_destroyed.hpp"

#include <mutex>
#include <utility>

namespace cudag::detail {

namespace {

struct ReleasedPools {
    std::mutex mutex;
    std::vector<std::shared_ptr<const ReleasedPool>> list;
};

/// Never destroyed, since pools may outlive static objects.
ReleasedPools& all_released() noexcept {
    return never_destroyed<ReleasedPools>();
}

} // namespace

void note_released(std::shared_ptr<const ReleasedPool> pool) {
    const std::scoped_lock lock(all_released().mutex);
    all_released().list.push_back(std::move(pool));
    look_before_launches(LaunchLook::released, true);
}

void forget_released(const void* pool) noexcept {
    const std::scoped_lock lock(all_released().mutex);
    auto& list = all_released().list;
    std::erase_if(list, [pool](const auto& each) { return each->pool == pool; });
    if (list.empty()) look_before_launches(LaunchLook::released, false);
}

std::vector<std::shared_ptr<const ReleasedPool>> released_pools() {
    const std::scoped_lock lock(all_released().mutex);
    return all_released().list;
}

} // namespace cudag::detail
