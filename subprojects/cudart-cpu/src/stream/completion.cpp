// Completions: one-shot signals for the end of some work.
#include "completion.hpp"

#include "runtime/call.hpp"

namespace cudart_cpu::detail {

void Completion::finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    time_ = Clock::now();
    // This happens under the lock: a waiter may drop the last reference as soon as it sees the flag.
    changed_.notify_all();
}

void Completion::wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return finished_; });
    note_wait();
}

bool Completion::finished() const {
    const std::lock_guard lock(mutex_);
    return finished_;
}

Completion::Clock::time_point Completion::time() const {
    const std::lock_guard lock(mutex_);
    return time_;
}

} // namespace cudart_cpu::detail
