// Declarations of the writes of nodes, for a CPU runtime that detects other writes.
#pragma once

namespace cudag::detail {

class ExecState;

/// Whether the program's runtime can watch writes, and does.
[[nodiscard]] bool are_writes_watched() noexcept;

/// Declares to the runtime the accesses of all nodes of an exec that declare every argument.
void declare_writes(const ExecState& exec);

} // namespace cudag::detail
