// Footprints of graphs, Execs, pools and caches, and their texts.
#include <cudag/capture_cache.hpp>
#include <cudag/capture_pool.hpp>
#include <cudag/exec.hpp>
#include <cudag/exec_cache.hpp>
#include <cudag/footprint.hpp>
#include <cudag/graph.hpp>
#include <cudag/graphed_function.hpp>
#include <cudag/segmented_graph.hpp>

#include "cuda/memory_holders.hpp"
#include "exec/cache_content.hpp"
#include "footprint_sum.hpp"

#include <fmt/format.h>

#include <numeric>
#include <string_view>

namespace cudag {

namespace {

using detail::size_text;

/// A list of sizes in parentheses, without those that are 0.
class SizeList {
  public:
    void add(std::string_view what, std::size_t bytes, const std::string& more = {}) {
        if (bytes != 0) text_ += fmt::format("{}{} {}{}", text_.empty() ? "" : ", ", what, size_text(bytes), more);
    }
    [[nodiscard]] std::string text() const { return text_.empty() ? text_ : " (" + text_ + ")"; }

  private:
    std::string text_;
};

} // namespace

Footprint Graph::memory() const {
    detail::FootprintSum sum;
    sum.add(*this);
    return sum.total();
}

Footprint Exec::memory() const {
    detail::FootprintSum sum;
    sum.add(*this);
    return sum.total();
}

namespace detail {

namespace {

CacheFootprint footprint_of(const CacheContent& content) {
    FootprintSum sum;
    sum.add(content);
    CacheFootprint result{sum.total(), content.execs.size() + content.graphs.size(), content.held, content.held_high};
    if (content.is_measured) result.memory.executable = content.held;
    return result;
}

} // namespace

CacheFootprint GraphedCache::memory() const {
    return footprint_of(content());
}

} // namespace detail

CacheFootprint ExecCache::memory() const {
    return detail::footprint_of(content());
}

CacheFootprint CaptureCache::memory() const {
    return detail::footprint_of(content());
}

Footprint SegmentedGraph::memory() const {
    return detail::footprint_of(content()).memory;
}

std::size_t Footprint::device() const noexcept {
    return std::accumulate(pools.begin(), pools.end(), executable + graph_memory + buffers,
                           [](std::size_t sum, const PoolFootprint& pool) { return sum + pool.reserved; });
}

std::size_t Footprint::host() const noexcept {
    return std::accumulate(pools.begin(), pools.end(), parameters + host_owned,
                           [](std::size_t sum, const PoolFootprint& pool) { return sum + pool.kept; });
}

std::size_t Footprint::released() const noexcept {
    return std::accumulate(pools.begin(), pools.end(), std::size_t{0},
                           [](std::size_t sum, const PoolFootprint& pool) { return sum + pool.released; });
}

std::string to_string(const Footprint& memory) {
    SizeList device, host, released;
    device.add("executable", memory.executable);
    device.add("graph memory", memory.graph_memory,
               memory.graph_memory_requested == memory.graph_memory
                   ? std::string()
                   : fmt::format(" of {} requested", size_text(memory.graph_memory_requested)));
    device.add("buffers", memory.buffers);
    for (const PoolFootprint& pool : memory.pools)
        device.add(pool.name, pool.reserved);
    host.add("parameters", memory.parameters);
    host.add("kept memory", memory.host_owned);
    for (const PoolFootprint& pool : memory.pools) {
        host.add("contents of " + pool.name, pool.kept);
        released.add(pool.name, pool.released);
    }
    std::string text = fmt::format("device: {}{}; host: {}{}", size_text(memory.device()), device.text(),
                                   size_text(memory.host()), host.text());
    if (memory.released() != 0) text += fmt::format("; released: {}{}", size_text(memory.released()), released.text());
    if (memory.host_borrowed != 0) text += fmt::format("; borrowed: {}", size_text(memory.host_borrowed));
    return text;
}

std::string to_string(const PoolFootprint& pool) {
    std::string text = fmt::format("{}: {} reserved, {} used, at most {}", pool.name, size_text(pool.reserved),
                                   size_text(pool.used), size_text(pool.used_high));
    if (pool.released != 0) text += fmt::format(", {} released", size_text(pool.released));
    if (pool.kept != 0) text += fmt::format(", {} kept on the host", size_text(pool.kept));
    return text;
}

std::string to_string(const CacheFootprint& cache) {
    return fmt::format("{} graph{}, {} held, at most {}; {}", cache.graphs, cache.graphs == 1 ? "" : "s",
                       size_text(cache.held), size_text(cache.held_high), to_string(cache.memory));
}

} // namespace cudag
