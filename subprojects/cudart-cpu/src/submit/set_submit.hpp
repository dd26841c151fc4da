// Submission of fills to a stream.
#pragma once

#include "memory/memory.hpp"
#include "stream/stream.hpp"

namespace cudart_cpu::detail {

/// Validates the fill. The result is null if the stream captures.
CompletionPtr submit_set(const cudaMemsetParams& set, Stream& stream);

/// Submits a call without a stream: fills are asynchronous towards the host unless the host sees the memory.
void submit_set_on_default_stream(const cudaMemsetParams& set);

} // namespace cudart_cpu::detail
