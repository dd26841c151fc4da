// The release of the memory of caches, and its restoration.
#include "cuda/device_guard.hpp"
#include "cuda/failure.hpp"
#include "cuda/relaxed_capture.hpp"
#include "exec/cache_content.hpp"
#include "footprint/footprint_sum.hpp"
#include "memory/pool_state.hpp"

#include <cudag/capture_cache.hpp>
#include <cudag/exec_cache.hpp>
#include <cudag/graph_memory.hpp>
#include <cudag/graphed_function.hpp>
#include <cudag/released_memory.hpp>
#include <cudag/segmented_graph.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

namespace cudag {

namespace detail {

namespace {

using Pools = std::vector<std::shared_ptr<PoolState>>;

/// The pools kept by the graphs of a cache, and by the cache itself, in the order of their ids.
Pools pools_of(const CacheContent& content) {
    FootprintSum sum;
    sum.add(content);
    return sum.pools();
}

/// Waits for all work of the current device: launches in flight use the graph memory to be trimmed.
void wait_for_work() {
    void* memory = nullptr; // freeing it waits, and breaks no captures, as cudaDeviceSynchronize would
    checked(cudaMalloc(&memory, 1), "cudaMalloc");
    checked(cudaFree(memory), "cudaFree");
}

std::size_t trim_current_device() {
    const RelaxedCapture allow_calls;
    int device = 0;
    checked(cudaGetDevice(&device), "cudaGetDevice");
    const std::size_t before = graph_memory(device).reserved;
    if (before == 0) return 0;
    wait_for_work();
    trim_graph_memory(device);
    const std::size_t after = graph_memory(device).reserved;
    return before > after ? before - after : 0;
}

ReleasedMemory release_pools(const Pools& pools, const ReleaseOptions& options) {
    ReleasedMemory sum;
    Pools done;
    try {
        for (const auto& pool : pools) {
            if (!pool->is_releasable()) {
                sum.not_released += pool->reserved_bytes();
                continue;
            }
            if (pool->is_released()) continue;
            done.push_back(pool);
            const ReleasedMemory one = pool->release(options);
            sum.pools += one.pools;
            sum.kept += one.kept;
        }
    } catch (...) {
        if (!done.empty()) done.pop_back(); // the pool that failed is unchanged
        for (const auto& pool : done)
            pool->restore();
        throw;
    }
    return sum;
}

ReleasedMemory release_content(const CacheContent& content, const ReleaseOptions& options) {
    const std::size_t trimmed = trim_current_device(); // first: launches have it again by themselves, pools do not
    ReleasedMemory sum = release_pools(pools_of(content), options);
    sum.graph_memory = trimmed;
    return sum;
}

std::size_t restore_content(const CacheContent& content) {
    std::size_t bytes = 0;
    for (const auto& pool : pools_of(content))
        bytes += pool->restore();
    return bytes;
}

} // namespace

ReleasedMemory GraphedCache::release_memory(const ReleaseOptions& options) {
    return release_content(content(), options);
}
std::size_t GraphedCache::restore_memory() {
    return restore_content(content());
}

} // namespace detail

ReleasedMemory ExecCache::release_memory(ReleaseOptions options) {
    return detail::release_content(content(), options);
}
std::size_t ExecCache::restore_memory() {
    return detail::restore_content(content());
}

ReleasedMemory CaptureCache::release_memory(ReleaseOptions options) {
    return detail::release_content(content(), options);
}
std::size_t CaptureCache::restore_memory() {
    return detail::restore_content(content());
}

ReleasedMemory SegmentedGraph::release_memory(ReleaseOptions options) {
    return detail::release_content(content(), options);
}
std::size_t SegmentedGraph::restore_memory() {
    return detail::restore_content(content());
}

} // namespace cudag
