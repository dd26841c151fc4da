// What cudaGridDependencySynchronize waits for.
#pragma once

#include <functional>

namespace cudart_cpu::detail {

/// While it lives, kernels that run on this thread wait in cudaGridDependencySynchronize by calling `wait`, which must
/// live as long; null for kernels that have nothing to wait for. Nests: waiting may run another node on the thread.
class GridDependencyScope {
  public:
    explicit GridDependencyScope(const std::function<void()>* wait) noexcept;
    GridDependencyScope(const GridDependencyScope&) = delete;
    GridDependencyScope& operator=(const GridDependencyScope&) = delete;
    ~GridDependencyScope();

  private:
    const std::function<void()>* outer_;
};

/// What the scope around this call waits with; null if there is nothing to wait for.
const std::function<void()>* current_grid_dependencies() noexcept;

} // namespace cudart_cpu::detail
