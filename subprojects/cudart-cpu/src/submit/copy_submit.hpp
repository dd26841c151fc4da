// Submission of copies to a stream.
#pragma once

#include "memory/memory.hpp"
#include "stream/stream.hpp"

namespace cudart_cpu::detail {

enum class CopyCall { synchronous, asynchronous };

/// The form of the call's arguments: a captured copy shows pitch and height only if the call had them.
enum class CopyForm { line, rows, box };

/// Validates the copy, and returns when CUDA would:
/// - Pageable sources are read during the call.
/// - Copies to pageable memory, copies within host memory, and large ones from pageable memory have ended at the
///   return.
/// - Synchronous calls do not wait for copies within the device.
void submit_copy(const cudaMemcpy3DParms& copy, Stream& stream, CopyCall call, CopyForm form = CopyForm::box);

} // namespace cudart_cpu::detail
