// The results of warp operations.
#pragma once

#include "block_run.hpp"

namespace cudart_cpu::detail {

/// Gives each of the `lanes` its result. Members for other lanes are null.
void answer_warp_call(ThreadRun* const* members, ptx::u32 lanes);

} // namespace cudart_cpu::detail
