// Event: ownership, recording and timing.
#include <cudag/event.hpp>

#include "failure.hpp"
#include "host_call.hpp"
#include "reclaim.hpp"

#include <utility>

namespace cudag {

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

void Event::record(StreamRef stream) {
    detail::checked(cudaEventRecord(event_, stream.get()), "cudaEventRecord");
}

void Event::synchronize() const {
    detail::checked(cudaEventSynchronize(event_), "cudaEventSynchronize");
    detail::reclaim();
    detail::rethrow_host_exception();
}

bool Event::query() const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) return false; // never the last error
    detail::checked(status, "cudaEventQuery");
    return true;
}

float Event::milliseconds_since(const Event& start) const {
    float milliseconds = 0;
    detail::checked(cudaEventElapsedTime(&milliseconds, start.event_, event_), "cudaEventElapsedTime");
    return milliseconds;
}

} // namespace cudag
