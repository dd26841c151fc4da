// Programmatic dependent launch: a kernel that may run before the one that it depends on has finished.
#pragma once

namespace cudart_cpu::detail {

__attribute__((visibility("default"))) void synchronize_grid_dependencies();

} // namespace cudart_cpu::detail

/// Returns when the kernels at the other ends of the node's programmatic edges have finished.
inline void cudaGridDependencySynchronize() {
    cudart_cpu::detail::synchronize_grid_dependencies();
}

/// A hint: here a dependent kernel may start even before this one.
inline void cudaTriggerProgrammaticLaunchCompletion() {}
