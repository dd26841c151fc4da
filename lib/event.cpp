// Event: ownership, recording and timing.
#include <cudag/event.hpp>

#include "failure.hpp"
#include "host_call.hpp"
#include "reclaim.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <utility>

namespace cudag {

namespace {

void require(cudaError_t status, const char* operation, const char* call, const SourceLocation& where) {
    if (status != cudaSuccess) [[unlikely]]
        detail::raise_call<Error>(status, operation, {fmt::format("Event::{} at {}", call, where), {}, where});
}

} // namespace

Event::Event(EventOptions options) {
    detail::checked(cudaEventCreateWithFlags(&event_, options.timing ? cudaEventDefault : cudaEventDisableTiming),
                    "cudaEventCreateWithFlags");
}

Event::Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
}

Event::~Event() {
    if (event_ != nullptr) detail::ignore(cudaEventDestroy(event_));
}

void Event::record(StreamRef stream, SourceLocation location) {
    require(cudaEventRecord(event_, stream.get()), "cudaEventRecord", "record", location);
}

void Event::synchronize(SourceLocation location) const {
    require(cudaEventSynchronize(event_), "cudaEventSynchronize", "synchronize", location);
    detail::reclaim();
    detail::rethrow_host_exception();
}

bool Event::query(SourceLocation location) const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) return false; // never the last error
    require(status, "cudaEventQuery", "query", location);
    return true;
}

float Event::milliseconds_since(const Event& start, SourceLocation location) const {
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, start.event_, event_), "cudaEventElapsedTime", "milliseconds_since",
            location);
    return milliseconds;
}

} // namespace cudag
