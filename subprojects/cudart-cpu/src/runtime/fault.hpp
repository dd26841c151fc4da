// Fault injection: counts runtime calls and makes the n-th one fail.
#pragma once

namespace cudart_cpu::detail {

/// Counts one call; throws the armed Failure if it is the call to fail.
void count_call();

} // namespace cudart_cpu::detail
