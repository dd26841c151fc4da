// Events: a point in a stream's work.
#include "event.hpp"

#include "capture/capture.hpp"
#include "stream.hpp"

#include <utility>

namespace cudart_cpu::detail {

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

void record(Event& event, Stream& stream) {
    if (captured_record(event, stream)) return;
    event.set_recorded(enqueue(stream, [] {}));
}

void wait(Stream& stream, const Event& event) {
    if (captured_wait(stream, event)) return;
    // Also when it has finished: on the legacy default stream the wait itself orders the blocking streams.
    if (CompletionPtr recorded = event.recorded()) {
        enqueue(stream, [] {}, {std::move(recorded)});
    }
}

} // namespace cudart_cpu::detail
