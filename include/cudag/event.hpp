// Event: a point in a stream, to wait for or to measure from.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/stream_mark.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>

namespace cudag {

/// The options of an Event.
struct EventOptions {
    bool timing = true; ///< false: cheaper recording, but `milliseconds_since` throws
};

/// Owns a CUDA event of the current device.
///
///     cudag::Event begin, end;
///     begin.record(stream);
///     exec.launch(stream);
///     end.record(stream);
///     end.synchronize();
///     std::printf("%f ms\n", static_cast<double>(end.milliseconds_since(begin)));
///
/// Move-only; a moved-from Event may only be assigned to or destroyed: other calls throw Error. Threads: all calls may
/// run concurrently, except moves and assignment.
class CUDAG_EXPORT Event {
  public:
    /// Creates an event. Throws Error if CUDA cannot.
    explicit Event(EventOptions options = {});
    Event(Event&& other) noexcept;
    Event& operator=(Event&& other) noexcept;
    Event(const Event&) = delete;            // cudag: an Event has one owner: std::move(event), or pass it by reference
    Event& operator=(const Event&) = delete; // cudag: an Event has one owner: std::move(event)
    ~Event();

    /// Returns CUDA's handle, borrowed; null if moved-from.
    [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

    /// Marks the point after all work enqueued in `stream` so far. Replaces an earlier mark. Throws Error if CUDA
    /// refuses, for example a stream of another device than the event's.
    void record(StreamRef stream, // cudag: record(stream) marks a place in a stream
                SourceLocation location = SourceLocation::current());

    /// Blocks until the marked work has finished; returns at once without a mark. Throws Error if any of the work
    /// failed, and HostError after exceptions of host nodes in the marked launches: those made in the stream before
    /// `record`. A mark made by CUDA's own calls, or by a node of a graph, covers no launches: their stream, or their
    /// Exec, reports these exceptions. Throws CaptureError if the mark is in a capture, which is then broken.
    void synchronize(SourceLocation location = SourceLocation::current()) const;

    /// Returns true if the marked work has finished, or if there is no mark. Does not block, and reports no host
    /// failures. Throws Error if any of the work failed, and CaptureError as `synchronize` does.
    [[nodiscard]] bool query(SourceLocation location = SourceLocation::current()) const;

    /// Returns the milliseconds from `start` to this event. Both must have timing, and marks with finished work. Throws
    /// Error if not, and CaptureError if one is in a capture.
    [[nodiscard]] float milliseconds_since(const Event& start,
                                           SourceLocation location = SourceLocation::current()) const;

  private:
    cudaEvent_t event_ = nullptr;
    detail::StreamMark mark_;
};

} // namespace cudag
