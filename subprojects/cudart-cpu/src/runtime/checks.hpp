// The checks requested by CUDART_CPU_CHECK, and CUDART_CPU_LOCKSTEP.
#pragma once

#include <cudart_cpu/detail/ptx/thread.hpp>

namespace cudart_cpu::detail {

/// Returns the bits of ptx::Block::checks: "memory", "race", or both with a comma; "1" requests all checks. In addition
/// CUDART_CPU_LOCKSTEP.
ptx::u32 checks_from_environment();
/// Whether "writes" is requested, a check made by graphs (see exec_watch).
bool checks_writes();

} // namespace cudart_cpu::detail
