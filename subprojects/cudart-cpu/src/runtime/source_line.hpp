// The source line of an instruction, for errors.
#pragma once

#include <string>

namespace cudart_cpu::detail {

/// Returns "file:line" by the debug information of the instruction's file; empty if there is none, or no addr2line.
/// Runs a process: for errors only.
std::string source_line(const void* instruction);

} // namespace cudart_cpu::detail
