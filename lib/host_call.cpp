// The queue of exceptions between CUDA's threads and the user's.
#include "host_call.hpp"

#include <cudag/detail/host_task.hpp>

#include <atomic>
#include <deque>
#include <exception>
#include <mutex>

namespace cudag::detail {

namespace {

/// Never destroyed: a host node may still run when the process ends.
struct Exceptions {
    std::mutex mutex;
    std::deque<std::exception_ptr> waiting;
    std::atomic<bool> any = false;
};

Exceptions& exceptions() {
    static auto* all = new Exceptions;
    return *all;
}

} // namespace

void CUDART_CB run_host_task(void* task) noexcept {
    const auto& host = *static_cast<const HostTask*>(task);
    try {
        host.run(host.callable.get());
    } catch (...) {
        Exceptions& all = exceptions();
        const std::scoped_lock lock(all.mutex);
        all.waiting.push_back(std::current_exception());
        all.any = true;
    }
}

void rethrow_host_exception() {
    Exceptions& all = exceptions();
    if (!all.any.load(std::memory_order_acquire)) return;
    std::exception_ptr oldest;
    {
        const std::scoped_lock lock(all.mutex);
        if (all.waiting.empty()) return;
        oldest = all.waiting.front();
        all.waiting.pop_front();
        all.any = !all.waiting.empty();
    }
    std::rethrow_exception(oldest);
}

} // namespace cudag::detail
