// Declarations of nodes for a CPU runtime that checks them: their writes, and waits for previous kernels.
#pragma once

namespace cudag::detail {

class ExecState;

/// Whether the program's runtime can watch writes, and does.
[[nodiscard]] bool are_writes_watched() noexcept;
/// Whether the program's runtime can watch writes.
[[nodiscard]] bool can_writes_be_watched() noexcept;

/// Declares to the runtime the accesses of all nodes of an exec that declare every argument.
void declare_writes(const ExecState& exec);

/// Declares to the runtime the kernels of an exec that declare to wait for previous ones. Costs a look at the graph.
void declare_waits(const ExecState& exec);

} // namespace cudag::detail
