// A mutex for resources that are nearly always free.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace cudag::detail {

/// A mutex at the cost of one atomic exchange if free: less than a std::mutex, which would slow updates of a graph's
/// nodes. Long waits, such as for an instantiation, sleep.
class LightMutex {
  public:
    LightMutex() = default;
    LightMutex(const LightMutex&) = delete;
    LightMutex& operator=(const LightMutex&) = delete;

    void lock() noexcept {
        if (!try_lock()) [[unlikely]]
            wait();
    }
    [[nodiscard]] bool try_lock() noexcept { return !locked_.exchange(true, std::memory_order_acquire); }
    void unlock() noexcept { locked_.store(false, std::memory_order_release); }
    /// Whether some thread holds it: for assertions.
    [[nodiscard]] bool is_locked() const noexcept { return locked_.load(std::memory_order_relaxed); }

  private:
    void wait() noexcept {
        constexpr int short_wait = 64;
        for (int i = 0; !try_lock(); ++i)
            if (i < short_wait)
                std::this_thread::yield();
            else
                std::this_thread::sleep_for(std::chrono::microseconds(20));
    }

    std::atomic<bool> locked_ = false;
};

} // namespace cudag::detail
