// Helper threads of launches, to run nodes at the same time.
#pragma once

#include <functional>

namespace cudart_cpu::detail {

/// Runs `task` as soon as one of at most `threads` threads is free. A launch must not depend on its start: all may be
/// busy in host functions.
void run_in_pool(std::function<void()> task, unsigned threads);

} // namespace cudart_cpu::detail
