// Submission of fills to a stream.
#pragma once

#include "memory/memory.hpp"
#include "stream/stream.hpp"

namespace cudart_cpu::detail {

/// Validates the fill. The result is null if the stream captures.
CompletionPtr submit_set(const cudaMemsetParams& set, Stream& stream);

} // namespace cudart_cpu::detail
