// Device settings made by programs: limits, cache configuration, flags.
#include "device_settings.hpp"

#include "call.hpp"
#include "device_model.hpp"
#include "number_in.hpp"
#include "text.hpp"

#include <algorithm>
#include <mutex>

namespace cudart_cpu::detail {

namespace {

struct Settings {
    std::size_t stack_bytes = 1024;
    std::size_t printf_bytes = 1024 * 1024;
    std::size_t heap_bytes = 8 * 1024 * 1024;
    std::size_t pending_launches = 2048;
    std::size_t fetch_granularity = 64;
    std::size_t persisting_cache_bytes = default_persisting_cache;
    cudaFuncCache cache_config = cudaFuncCachePreferNone;
    unsigned flags = 0;
};

std::mutex mutex;
Settings settings[max_devices];

constexpr std::size_t max_stack_bytes = 512 * 1024;
constexpr std::size_t stack_unit = 16;
constexpr std::size_t max_fetch_granularity = 128;

/// Returns the place of a limit; null if compute capability 9.0 does not have it. Call under the lock.
std::size_t* find_limit(Settings& of, int limit) {
    switch (limit) {
    case cudaLimitStackSize:
        return &of.stack_bytes;
    case cudaLimitPrintfFifoSize:
        return &of.printf_bytes;
    case cudaLimitMallocHeapSize:
        return &of.heap_bytes;
    case cudaLimitDevRuntimePendingLaunchCount:
        return &of.pending_launches;
    case cudaLimitMaxL2FetchGranularity:
        return &of.fetch_granularity;
    case cudaLimitPersistingL2CacheSize:
        return &of.persisting_cache_bytes;
    default:
        return nullptr;
    }
}

std::size_t& limit_of(Settings& of, cudaLimit limit) {
    const int number = number_in(limit);
    if (std::size_t* found = find_limit(of, number)) return *found;
    if (number == cudaLimitDevRuntimeSyncDepth)
        fail(cudaErrorUnsupportedLimit, "the depth of synchronisation is no limit of compute capability 9.0");
    fail(cudaErrorUnsupportedLimit, text("device limit ", number, " is unknown"));
}

/// Returns the value granted for a requested limit.
std::size_t granted(cudaLimit limit, std::size_t value) {
    switch (number_in(limit)) {
    case cudaLimitStackSize:
        if (value > max_stack_bytes)
            fail(cudaErrorInvalidValue, text("a stack of ", value, " bytes is more than ", max_stack_bytes));
        return (value + stack_unit - 1) / stack_unit * stack_unit;
    case cudaLimitMaxL2FetchGranularity:
        return std::min(value, max_fetch_granularity);
    case cudaLimitPersistingL2CacheSize:
        return std::min(value, max_persisting_cache);
    case cudaLimitPrintfFifoSize:
    case cudaLimitMallocHeapSize:
        if (value > device_memory_bytes())
            fail(cudaErrorMemoryAllocation, text("a limit of ", value, " bytes is more than the device's memory"));
        return value;
    default:
        return value;
    }
}

} // namespace

void set_device_limit(int device, cudaLimit limit, std::size_t value) {
    const std::lock_guard lock(mutex);
    std::size_t& set = limit_of(settings[device], limit);
    set = granted(limit, value);
}

std::size_t device_limit(int device, cudaLimit limit) {
    const std::lock_guard lock(mutex);
    return limit_of(settings[device], limit);
}

std::size_t largest_stack_limit() {
    const std::lock_guard lock(mutex);
    return std::ranges::max_element(settings, {}, &Settings::stack_bytes)->stack_bytes;
}

void require_cache_config(cudaFuncCache config) {
    const int number = number_in(config);
    if (number < cudaFuncCachePreferNone || number > cudaFuncCachePreferEqual)
        fail(cudaErrorInvalidValue, text("cache configuration ", number, " is unknown"));
}

void set_device_cache_config(int device, cudaFuncCache config) {
    require_cache_config(config);
    const std::lock_guard lock(mutex);
    settings[device].cache_config = config;
}

cudaFuncCache device_cache_config(int device) {
    const std::lock_guard lock(mutex);
    return settings[device].cache_config;
}

void set_device_flags(int device, unsigned flags) {
    constexpr unsigned sync_memops = 0x80; // cudaDeviceSyncMemops, new in 12.1
    constexpr unsigned known = cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | sync_memops;
    const unsigned schedule = flags & cudaDeviceScheduleMask;
    const bool one_schedule = (schedule & (schedule - 1)) == 0; // spin, yield and block have one bit each
    if ((flags & ~known) != 0 || !one_schedule)
        fail(cudaErrorInvalidValue, text("device flags ", flags, " do not exist or exclude each other"));
    const std::lock_guard lock(mutex);
    settings[device].flags = flags;
}

unsigned device_flags(int device) {
    const std::lock_guard lock(mutex);
    return settings[device].flags | cudaDeviceMapHost;
}

void reset_device_settings(int device) {
    const std::lock_guard lock(mutex);
    settings[device] = {};
}

} // namespace cudart_cpu::detail
