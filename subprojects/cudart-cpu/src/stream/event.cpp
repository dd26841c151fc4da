// Events: points in a stream's work.
#include "event.hpp"

#include "runtime/call.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/live_counts.hpp"

#include <utility>

namespace cudart_cpu::detail {

namespace {

struct OwnedEvent {
    explicit OwnedEvent(unsigned flags) : event(std::make_shared<Event>(flags)) {}

    std::shared_ptr<Event> event;
    Counted<Kind::event> counted;
};

using EventTable = HandleTable<OwnedEvent, cudaEvent_t>;

EventTable& events() {
    static auto* table = new EventTable;
    return *table;
}

} // namespace

CompletionPtr Event::recorded() const {
    const std::lock_guard lock(mutex_);
    return recorded_;
}

void Event::set_recorded(CompletionPtr completion) {
    const std::lock_guard lock(mutex_);
    recorded_ = std::move(completion);
    captured_ = nullptr;
}

std::shared_ptr<const CapturedRecord> Event::captured() const {
    const std::lock_guard lock(mutex_);
    return captured_;
}

void Event::set_captured(std::shared_ptr<const CapturedRecord> record) {
    const std::lock_guard lock(mutex_);
    captured_ = std::move(record);
}

cudaEvent_t create_event(unsigned flags) {
    return events().add(std::make_shared<OwnedEvent>(flags));
}

void destroy_event(cudaEvent_t handle) {
    if (events().take(handle) == nullptr) {
        fail(cudaErrorInvalidResourceHandle, "the event does not exist or was destroyed");
    }
}

Event& event_of(cudaEvent_t handle) {
    return *shared_event_of(handle);
}

std::shared_ptr<Event> shared_event_of(cudaEvent_t handle) {
    if (handle == nullptr) {
        fail(cudaErrorInvalidResourceHandle, "Event handle is NULL");
    }
    const std::shared_ptr<OwnedEvent> found = events().find(handle);
    if (found == nullptr) {
        fail(cudaErrorInvalidResourceHandle, "the event does not exist or was destroyed");
    }
    return found->event;
}

void destroy_events_of(int device) {
    events().remove_if([=](const OwnedEvent& owned) { return owned.event->device() == device; });
}

} // namespace cudart_cpu::detail
