// Events recorded in a stream and waited for by one.
#pragma once

#include "stream/event.hpp"
#include "stream/stream.hpp"

namespace cudart_cpu::detail {

/// The event stands for all work of `stream` so far.
void record(Event& event, Stream& stream);

/// What is enqueued into `stream` from now on waits for what `event` stands for now.
void wait(Stream& stream, const Event& event);

} // namespace cudart_cpu::detail
