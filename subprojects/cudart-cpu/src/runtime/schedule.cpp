// The schedule's settings: control.hpp's setters and the environment.
#include "schedule.hpp"

#include "environment.hpp"

#include <cudart_cpu/control.hpp>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

namespace cudart_cpu {

namespace {

bool trace_enabled() {
    static const bool enabled = detail::number_from_environment("CUDART_CPU_TRACE") != 0;
    return enabled;
}

struct Seed {
    std::mutex mutex;
    detail::Draw next{detail::number_from_environment("CUDART_CPU_SEED"), 0};
};

Seed& seed_setting() {
    static auto* seed = new Seed; // never destroyed: a graph may be launched after main()
    return *seed;
}

/// The set number of workers; 0 for the default.
std::atomic<unsigned> workers_setting{0};

struct LastOrder {
    std::mutex mutex;
    detail::OrderNames names = [] { return std::vector<std::string>(); };
};

/// The order is never destroyed: a graph may end after main().
LastOrder& kept_order() {
    static auto* order = new LastOrder;
    return *order;
}

void print(const std::vector<std::string>& order) {
    std::string line = "cudart-cpu: order:";
    for (const std::string& node : order) {
        line += " [" + node + "]";
    }
    line += '\n';
    std::fputs(line.c_str(), stderr);
}

} // namespace

namespace detail {

Draw next_draw() {
    Seed& seed = seed_setting();
    const std::lock_guard lock(seed.mutex);
    const Draw draw = seed.next;
    ++seed.next.launch;
    return draw;
}

unsigned schedule_workers() {
    static const unsigned default_workers = [] {
        const auto wanted = static_cast<unsigned>(number_from_environment("CUDART_CPU_WORKERS"));
        const unsigned cores = std::thread::hardware_concurrency();
        return wanted != 0 ? wanted : (cores != 0 ? cores : 1);
    }();
    const unsigned set = workers_setting.load(std::memory_order_relaxed);
    return set != 0 ? set : default_workers;
}

void note_order(OrderNames names) {
    if (trace_enabled()) {
        print(names());
    }
    LastOrder& kept = kept_order();
    const std::lock_guard lock(kept.mutex);
    kept.names.swap(names); // the old names are destroyed after the lock is released
}

} // namespace detail

void set_seed(std::uint64_t seed) {
    Seed& setting = seed_setting();
    const std::lock_guard lock(setting.mutex);
    setting.next = {seed, 0};
}

void set_workers(unsigned workers) {
    workers_setting.store(workers, std::memory_order_relaxed);
}

std::vector<std::string> last_order() {
    LastOrder& kept = kept_order();
    const std::lock_guard lock(kept.mutex);
    return kept.names();
}

} // namespace cudart_cpu
