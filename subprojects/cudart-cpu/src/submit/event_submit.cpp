// Submission of event records and waits to a stream.
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
    // The wait is enqueued even after a finished record: on the legacy default stream it orders the blocking streams.
    if (CompletionPtr recorded = event.recorded()) {
        enqueue(stream, [] {}, {std::move(recorded)});
    }
}

} // namespace cudart_cpu::detail
