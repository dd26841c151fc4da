// The look at an Exec before its launch, by whatever asked for it.
#pragma once

namespace cudag::detail {

class ExecState;
class GraphState;

/// Declares the writes of `exec` to a runtime that watches them. Throws Error if `exec` uses released memory, or a
/// guard refuses the launch.
void look_before_launch(const ExecState& exec);
/// Throws Error if a launch of `graph` would use released memory, of which CUDA makes no Exec.
void require_no_released(const GraphState& graph);
/// Takes the look back: the launch failed.
void look_after_failed_launch(const ExecState& exec) noexcept;

} // namespace cudag::detail
