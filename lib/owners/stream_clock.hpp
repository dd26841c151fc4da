// The progress of launches in a Stream, queried from CUDA only when owners are to be dropped.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <type_traits>

namespace cudag::detail {

/// Numbers the launches in a Stream, from 1. An event after each launch would mark its end, at up to a fifth of the
/// cost of a small launch; one event after many launches, recorded on demand, marks the end of all. It requires a
/// stream known to exist: only a Stream has a clock. Threads: all calls may run concurrently. The caller must allow
/// queries during stream capture (RelaxedCapture).
class StreamClock {
  public:
    /// The clock of the Stream with this handle, which must be alive; null if the handle is not a Stream's.
    [[nodiscard]] static std::shared_ptr<StreamClock> of(cudaStream_t stream) noexcept;
    /// Opens the clock of a new Stream.
    static void open(cudaStream_t stream);
    /// Closes the clock before the Stream destroys CUDA's stream. Marks launches in flight by an event, or waits for
    /// them if CUDA cannot make one.
    static void close(cudaStream_t stream) noexcept;

    explicit StreamClock(cudaStream_t stream) noexcept : stream_(stream) {}

    /// Whether the Stream still exists.
    [[nodiscard]] bool is_open() const noexcept { return !is_closed_.load(std::memory_order_relaxed); }
    /// Number of launches so far.
    [[nodiscard]] std::uint64_t now() const noexcept { return count_.load(std::memory_order_acquire); }

    /// Returns the number of a newly enqueued launch.
    [[nodiscard]] std::uint64_t tick() noexcept { return count_.fetch_add(1, std::memory_order_acq_rel) + 1; }
    /// Makes CUDA record the end of launch `number`, unless it does already.
    void mark(std::uint64_t number) noexcept;
    /// Whether launch `number`, and so all before it, is known to have ended. False while the stream is captured, since
    /// nothing can be recorded then.
    [[nodiscard]] bool has_reached(std::uint64_t number) noexcept;
    /// Waits for the end of launch `number`; not while the stream is captured.
    void wait_for(std::uint64_t number) noexcept;
    /// Records the end of launch `number`.
    void reach(std::uint64_t number) noexcept;

  private:
    using SharedEvent = std::shared_ptr<std::remove_pointer_t<cudaEvent_t>>; ///< shared with waiting threads
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
    std::atomic<std::uint64_t> reached_ = 0; ///< written under the lock
    std::mutex mutex_;
    std::deque<Mark> marks_; ///< events after launches that may be unfinished, oldest first
};

} // namespace cudag::detail
