// Events: points in a stream to wait for or to measure between.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/stream_mark.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>

namespace cudag {

struct EventOptions {
    bool timing = true; ///< off makes recording cheaper and `milliseconds_since` an error
};

/// An owned CUDA event of the current device. Move-only; a moved-from Event may only be assigned to or destroyed: other
/// calls throw Error. Threads: all calls but moves and assignment may run at once.
class CUDAG_EXPORT Event {
  public:
    /// Throws Error if CUDA cannot make an event.
    explicit Event(EventOptions options = {});
    Event(Event&& other) noexcept;
    Event& operator=(Event&& other) noexcept;
    Event(const Event&) = delete;            // cudag: an Event has one owner: std::move(event), or pass it by reference
    Event& operator=(const Event&) = delete; // cudag: an Event has one owner: std::move(event)
    ~Event();

    [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

    /// Marks the point after everything enqueued in `stream` so far; replaces an earlier mark.
    void record(StreamRef stream, // cudag: record(stream) marks a place in a stream
                SourceLocation location = SourceLocation::current());

    /// Blocks until the marked work has finished (at once if nothing was recorded). Throws Error if any of it failed,
    /// and HostError if host nodes threw in the marked launches: those made in the stream before `record`. Of work that
    /// CUDA's own calls or a graph's node marked it knows no launches: their stream, or their Exec, tells. Throws
    /// CaptureError if the mark is in a capture, which is broken then.
    void synchronize(SourceLocation location = SourceLocation::current()) const;

    /// True if the marked work has finished, or nothing was recorded. Does not block. Throws CaptureError as
    /// `synchronize` does.
    [[nodiscard]] bool query(SourceLocation location = SourceLocation::current()) const;

    /// Milliseconds from `start` to this event. Both must be recorded, finished, and made with timing. Throws Error if
    /// they are not, and CaptureError if one is in a capture.
    [[nodiscard]] float milliseconds_since(const Event& start,
                                           SourceLocation location = SourceLocation::current()) const;

  private:
    cudaEvent_t event_ = nullptr;
    detail::StreamMark mark_;
};

} // namespace cudag
