// Counting of runtime calls, and making the n-th one fail.
#pragma once

namespace cudart_cpu::detail {

/// Counts one call; throws the armed Failure if this is the one to fail.
void count_call();

} // namespace cudart_cpu::detail
