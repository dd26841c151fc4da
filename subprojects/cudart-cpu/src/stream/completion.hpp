// Completions: one-shot signals for the end of some work.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace cudart_cpu::detail {

class Completion {
  public:
    using Clock = std::chrono::steady_clock;

    void finish();
    void wait() const;
    [[nodiscard]] bool finished() const;
    /// The time of the call of finish(); only meaningful once finished.
    [[nodiscard]] Clock::time_point time() const;

  private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool finished_ = false;
    Clock::time_point time_;
};

using CompletionPtr = std::shared_ptr<Completion>;

} // namespace cudart_cpu::detail
