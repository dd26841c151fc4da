// What CUDART_CPU_CHECK asks for.
#pragma once

#include <cudart_cpu/detail/ptx/thread.hpp>

namespace cudart_cpu::detail {

/// The bits of ptx::Block::checks: "memory", "race", or both with a comma; "1" asks for all that there are.
ptx::u32 checks_from_environment();
/// Whether "writes" is among them, which graphs look at (see exec_watch).
bool checks_writes();

} // namespace cudart_cpu::detail
