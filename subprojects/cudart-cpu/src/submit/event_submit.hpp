// Submission of event records and waits to a stream.
#pragma once

#include "stream/event.hpp"
#include "stream/stream.hpp"

namespace cudart_cpu::detail {

/// Makes the event stand for all work of `stream` so far.
void record(Event& event, Stream& stream);

/// Makes later work of `stream` wait for the work that `event` stands for now.
void wait(Stream& stream, const Event& event);

} // namespace cudart_cpu::detail
