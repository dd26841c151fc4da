// What nodes write, for a CPU runtime that looks whether they write more.
#pragma once

namespace cudag::detail {

class ExecState;

/// Whether the program's runtime is one that looks, and does.
[[nodiscard]] bool are_writes_watched() noexcept;

/// Tells it what the nodes of an exec do to memory that say so for all that they are given.
void declare_writes(const ExecState& exec);

} // namespace cudag::detail
