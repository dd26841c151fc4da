// Programmatic dependent launch (PDL): a kernel may run before the kernel it depends on has finished.
#pragma once

namespace cudart_cpu::detail {

__attribute__((visibility("default"))) void synchronize_grid_dependencies();

} // namespace cudart_cpu::detail

/// Returns when the kernels at the other ends of the node's programmatic edges have finished.
inline void cudaGridDependencySynchronize() {
    cudart_cpu::detail::synchronize_grid_dependencies();
}

/// A hint; no effect here: a dependent kernel may start even before this one.
inline void cudaTriggerProgrammaticLaunchCompletion() {}
