// How far the launches in a Stream have come, asked of CUDA only when something is to go.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <type_traits>

namespace cudag::detail {

/// Numbers the launches in a Stream, from 1. An event after each would tell when it has ended, and cost as much as a
/// fifth of a small launch; an event behind the last of many, recorded when somebody asks, tells it of all. That needs
/// a stream of which cudag knows that it still exists: only a Stream has a clock. Threads: all calls may run at once.
/// Who asks allows CUDA to be asked while a stream is captured (RelaxedCapture).
class StreamClock {
  public:
    /// Of the Stream, which is alive, with this handle; null if it is none of cudag's.
    [[nodiscard]] static std::shared_ptr<StreamClock> of(cudaStream_t stream) noexcept;
    /// A Stream begins.
    static void open(cudaStream_t stream);
    /// It goes, and CUDA's stream with it: launches in flight are marked by an event first, or waited for where CUDA
    /// cannot make one.
    static void close(cudaStream_t stream) noexcept;

    explicit StreamClock(cudaStream_t stream) noexcept : stream_(stream) {}

    /// Whether the Stream still exists.
    [[nodiscard]] bool is_open() const noexcept { return !is_closed_.load(std::memory_order_relaxed); }
    /// How many launches there were.
    [[nodiscard]] std::uint64_t now() const noexcept { return count_.load(std::memory_order_acquire); }

    /// The number of a launch that has been enqueued.
    [[nodiscard]] std::uint64_t tick() noexcept { return count_.fetch_add(1, std::memory_order_acq_rel) + 1; }
    /// Has CUDA note when launch `number` has ended, if it does not yet.
    void mark(std::uint64_t number) noexcept;
    /// Whether launch `number`, and so all before it, has ended, as far as is known: false also while the stream is
    /// captured, in which nothing can be noted.
    [[nodiscard]] bool has_reached(std::uint64_t number) noexcept;
    /// Waits until it has ended; not while the stream is captured.
    void wait_for(std::uint64_t number) noexcept;
    /// Launch `number` has ended.
    void reach(std::uint64_t number) noexcept;

  private:
    using SharedEvent = std::shared_ptr<std::remove_pointer_t<cudaEvent_t>>; ///< with whoever waits for it
    struct Mark {
        std::uint64_t number;
        SharedEvent event;
    };

    [[nodiscard]] bool is_captured() const noexcept;
    void finish() noexcept;
    void mark_now(std::uint64_t number);
    void look() noexcept;
    void drop_reached() noexcept;
    void note(std::uint64_t number) noexcept;

    const cudaStream_t stream_;
    std::atomic<bool> is_closed_ = false;
    std::atomic<std::uint64_t> count_ = 0;
    std::atomic<std::uint64_t> reached_ = 0; ///< written with the lock
    std::mutex mutex_;
    std::deque<Mark> marks_; ///< events behind launches that may not have ended, oldest first
};

} // namespace cudag::detail
