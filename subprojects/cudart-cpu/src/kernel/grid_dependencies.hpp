// The wait of cudaGridDependencySynchronize.
#pragma once

#include <functional>

namespace cudart_cpu::detail {

/// While an object lives, cudaGridDependencySynchronize in kernels on this thread waits by a call of `wait`, which must
/// live as long; null for kernels with nothing to wait for. Nests: the wait may run another node on the thread.
class GridDependencyScope {
  public:
    explicit GridDependencyScope(const std::function<void()>* wait) noexcept;
    GridDependencyScope(const GridDependencyScope&) = delete;
    GridDependencyScope& operator=(const GridDependencyScope&) = delete;
    ~GridDependencyScope();

  private:
    const std::function<void()>* outer_;
};

/// The `wait` of the scope around this call; null if there is nothing to wait for.
const std::function<void()>* current_grid_dependencies() noexcept;

} // namespace cudart_cpu::detail
