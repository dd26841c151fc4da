// All memory pools: one for each device, and those of the user.
#include "memory_pools.hpp"

#include "runtime/call.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/text.hpp"

namespace cudart_cpu::detail {

namespace {

HandleTable<MemoryPool, cudaMemPool_t>& pools() {
    static auto& table = *new HandleTable<MemoryPool, cudaMemPool_t>;
    return table;
}

struct DevicePools {
    std::mutex mutex;
    std::map<int, cudaMemPool_t> standard;
    std::map<int, cudaMemPool_t> current;
};

DevicePools& device_pools() {
    static auto& all = *new DevicePools;
    return all;
}

/// Returns the device's default pool. The lock must be held.
cudaMemPool_t standard_pool(int device) {
    cudaMemPool_t& pool = device_pools().standard[device];
    if (pool == nullptr) {
        pool = register_pool(std::make_shared<MemoryPool>(device, 0));
    }
    return pool;
}

} // namespace

cudaMemPool_t register_pool(std::shared_ptr<MemoryPool> pool) {
    return pools().add(std::move(pool));
}

std::shared_ptr<MemoryPool> pool_of(cudaMemPool_t handle) {
    auto pool = pools().find(handle);
    if (!pool) {
        fail(cudaErrorInvalidValue, text("memory pool ", handle, " is not alive"));
    }
    return pool;
}

void destroy_pool(cudaMemPool_t handle) {
    pool_of(handle);
    DevicePools& all = device_pools();
    const std::lock_guard lock(all.mutex);
    for (const auto& [device, pool] : all.standard) {
        if (pool == handle) {
            fail(cudaErrorInvalidValue, text("the default memory pool of device ", device, " cannot be destroyed"));
        }
    }
    std::erase_if(all.current, [&](const auto& one) { return one.second == handle; });
    pools().take(handle);
}

cudaMemPool_t default_pool(int device) {
    const std::lock_guard lock(device_pools().mutex);
    return standard_pool(device);
}

cudaMemPool_t current_pool(int device) {
    const std::lock_guard lock(device_pools().mutex);
    const auto chosen = device_pools().current.find(device);
    return chosen == device_pools().current.end() ? standard_pool(device) : chosen->second;
}

void set_current_pool(int device, cudaMemPool_t handle) {
    const auto pool = pool_of(handle);
    if (pool->device() != device) {
        fail(cudaErrorInvalidValue, text("memory pool ", handle, " is of device ", pool->device()));
    }
    const std::lock_guard lock(device_pools().mutex);
    device_pools().current[device] = handle;
}

} // namespace cudart_cpu::detail
