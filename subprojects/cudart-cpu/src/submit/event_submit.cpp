// Events recorded in a stream and waited for by one.
#include "event_submit.hpp"

#include "capture/capture.hpp"

#include <utility>

namespace cudart_cpu::detail {

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
