// The numbers of the live CapturePools, by owner.
#include "pool_numbers.hpp"

#include "cuda/never_destroyed.hpp"

#include <mutex>
#include <unordered_map>

namespace cudag::detail {

namespace {

struct PoolNumbers {
    std::mutex mutex;
    std::unordered_map<const void*, std::uint64_t> numbers;
};

/// Never destroyed, since pools may outlive static objects.
PoolNumbers& pool_numbers() noexcept {
    return never_destroyed<PoolNumbers>();
}

} // namespace

void note_pool(const void* pool, std::uint64_t number) {
    const std::scoped_lock lock(pool_numbers().mutex);
    pool_numbers().numbers.emplace(pool, number);
}

void forget_pool(const void* pool) noexcept {
    const std::scoped_lock lock(pool_numbers().mutex);
    pool_numbers().numbers.erase(pool);
}

std::uint64_t pool_among(std::span<const std::shared_ptr<const void>> owners) noexcept {
    const std::scoped_lock lock(pool_numbers().mutex);
    if (pool_numbers().numbers.empty()) return 0;
    for (const auto& owner : owners)
        if (const auto found = pool_numbers().numbers.find(owner.get()); found != pool_numbers().numbers.end())
            return found->second;
    return 0;
}

} // namespace cudag::detail
