// Event: ownership, recording and timing. Waits of streams for events.
#include <cudag/event.hpp>

#include "cuda/failure.hpp"
#include "owners/host_call.hpp"
#include "owners/reclaim.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <utility>

namespace cudag {

namespace {

void require(cudaError_t status, const char* operation, const char* call, const SourceLocation& where) {
    if (status != cudaSuccess) [[unlikely]]
        detail::raise_call<Error>(status, operation, {fmt::format("{} at {}", call, where), {}, where});
}

/// Throws a precise error for a moved-from Event: CUDA would report only an invalid handle.
cudaEvent_t require_event(cudaEvent_t event, const char* call, const SourceLocation& where) {
    if (event == nullptr) [[unlikely]]
        detail::refuse<Error>("a moved-from Event was used", {fmt::format("{} at {}", call, where), {}, where},
                              cudaErrorInvalidResourceHandle);
    return event;
}

} // namespace

Event::Event(EventOptions options) {
    detail::checked(cudaEventCreateWithFlags(&event_, options.timing ? cudaEventDefault : cudaEventDisableTiming),
                    "cudaEventCreateWithFlags");
}

Event::Event(Event&& other) noexcept
    : event_(std::exchange(other.event_, nullptr)), mark_(std::exchange(other.mark_, {})) {}

Event& Event::operator=(Event&& other) noexcept {
    Event last(std::move(*this)); // destroys the former event; on self-assignment, returns it
    Event& from = &other == this ? last : other;
    event_ = std::exchange(from.event_, nullptr);
    mark_ = std::exchange(from.mark_, {});
    return *this;
}

Event::~Event() {
    if (event_ != nullptr) detail::report_release(cudaEventDestroy(event_), "cudaEventDestroy");
}

void Event::record(StreamRef stream, SourceLocation location) {
    const cudaEvent_t event = require_event(event_, "Event::record", location);
    const detail::StreamMark mark = detail::mark_stream(stream.get());
    require(cudaEventRecord(event, stream.get()), "cudaEventRecord", "Event::record", location);
    mark_ = mark;
}

void Event::synchronize(SourceLocation location) const {
    require(cudaEventSynchronize(require_event(event_, "Event::synchronize", location)), "cudaEventSynchronize",
            "Event::synchronize", location);
    detail::reclaim();
    detail::rethrow_host_failures(mark_);
}

bool Event::query(SourceLocation location) const {
    const cudaError_t status = cudaEventQuery(require_event(event_, "Event::query", location));
    if (status == cudaErrorNotReady) return false; // never becomes the last error
    require(status, "cudaEventQuery", "Event::query", location);
    return true;
}

float Event::milliseconds_since(const Event& start, SourceLocation location) const {
    float milliseconds = 0;
    const char* const call = "Event::milliseconds_since";
    require(cudaEventElapsedTime(&milliseconds, require_event(start.event_, call, location),
                                 require_event(event_, call, location)),
            "cudaEventElapsedTime", call, location);
    return milliseconds;
}

void Stream::wait(const Event& event, SourceLocation location) {
    const cudaStream_t stream = StreamRef(*this).get();
    require(cudaStreamWaitEvent(stream, require_event(event.get(), "Stream::wait", location)), "cudaStreamWaitEvent",
            "Stream::wait", location);
}

} // namespace cudag
