// Copies given to a stream.
#pragma once

#include "memory/memory.hpp"
#include "stream/stream.hpp"

namespace cudart_cpu::detail {

enum class CopyCall { synchronous, asynchronous };

/// What the call was given: a captured copy shows pitch and height only where they were.
enum class CopyForm { line, rows, box };

/// Validates the copy, and returns when CUDA would: pageable sources are read during the call; copies to pageable
/// memory, those between host memory, and large ones from pageable memory, have ended when the call returns;
/// synchronous calls do not wait for copies within the device.
void submit_copy(const cudaMemcpy3DParms& copy, Stream& stream, CopyCall call, CopyForm form = CopyForm::box);

} // namespace cudart_cpu::detail
