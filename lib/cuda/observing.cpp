// The observers of the process, and the delivery of events to them.
#include "observing.hpp"

#include "thread_state.hpp"

#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace cudag {

namespace detail {

namespace {

/// The observers of the process. Never destroyed: destructors of static objects report failures.
struct Observers {
    const std::vector<Observer> of_environment = observers_of_environment();
    std::atomic<bool> any_set = false; ///< whether `set` is an observer
    std::mutex mutex;                  ///< of `set`
    std::shared_ptr<const Observer> set;
};

/// The first call reads the environment: by a constructor, as std::call_once takes thread-local memory of libraries
/// with a standard library inside, see tests/plugin.
Observers& observers() {
    static Observers& all = *new Observers;
    return all;
}

void call_observer(const Observer& observer, const Observation& event) noexcept {
    try {
        observer(event);
    } catch (...) {
        report_unobserved();
    }
}

} // namespace

bool is_observed() noexcept {
    if (thread_state.is_observing) return false;
    try {
        const Observers& all = observers();
        return all.any_set.load(std::memory_order_acquire) || !all.of_environment.empty();
    } catch (...) { // out of memory
        return false;
    }
}

void deliver(const Observation& event) noexcept {
    Observers& all = observers();
    thread_state.is_observing = true;
    for (const Observer& observer : all.of_environment)
        call_observer(observer, event);
    std::shared_ptr<const Observer> set;
    {
        const std::lock_guard lock(all.mutex);
        set = all.set;
    }
    if (set) call_observer(*set, event);
    set.reset(); // its destructor may call cudag, too
    thread_state.is_observing = false;
}

void report_unobserved() noexcept {
    try {
        throw;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cudag: an observer threw: %s; the observed call continues\n", error.what());
    } catch (...) {
        std::fputs("cudag: an observer threw; the observed call continues\n", stderr);
    }
}

} // namespace detail

Observer set_observer(Observer observer) {
    detail::Observers& all = detail::observers();
    auto next = observer ? std::make_shared<const Observer>(std::move(observer)) : nullptr;
    {
        const std::lock_guard lock(all.mutex);
        all.any_set.store(next != nullptr, std::memory_order_release);
        std::swap(all.set, next);
    }
    return next ? *next : Observer();
}

} // namespace cudag
