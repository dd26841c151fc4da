// Events: points in a stream to wait for or to measure between.
#pragma once

#include <cudag/config.hpp>
#include <cudag/stream.hpp>

namespace cudag {

struct EventOptions {
    bool timing = true; ///< off makes recording cheaper and `milliseconds_since` an error
};

/// An owned CUDA event of the current device. Move-only.
class CUDAG_EXPORT Event {
  public:
    /// Throws Error if CUDA cannot make an event.
    explicit Event(EventOptions options = {});
    Event(Event&& other) noexcept;
    Event& operator=(Event&& other) noexcept;
    ~Event();

    [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

    /// Marks the point after everything enqueued in `stream` so far; replaces an earlier mark.
    void record(StreamRef stream);

    /// Blocks until the marked work has finished (at once if nothing was recorded). Throws like Stream::synchronize.
    void synchronize() const;

    /// True if the marked work has finished, or nothing was recorded. Does not block.
    [[nodiscard]] bool query() const;

    /// Milliseconds from `start` to this event. Both must be recorded, finished, and made with timing.
    [[nodiscard]] float milliseconds_since(const Event& start) const;

  private:
    cudaEvent_t event_ = nullptr;
};

} // namespace cudag
