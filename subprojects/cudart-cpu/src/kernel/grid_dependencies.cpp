// The wait of cudaGridDependencySynchronize.
#include "grid_dependencies.hpp"

#include "cpp_run.hpp"

#include <cudart_cpu/detail/grid_dependencies.hpp>

#include <utility>

namespace cudart_cpu::detail {

namespace {

thread_local const std::function<void()>* wait_for_producers = nullptr;

} // namespace

GridDependencyScope::GridDependencyScope(const std::function<void()>* wait) noexcept
    : outer_(std::exchange(wait_for_producers, wait)) {}

GridDependencyScope::~GridDependencyScope() {
    wait_for_producers = outer_;
}

const std::function<void()>* current_grid_dependencies() noexcept {
    return wait_for_producers;
}

void synchronize_grid_dependencies() {
    if (wait_for_producers == nullptr) return;
    const OutsideCppRun outside;
    (*wait_for_producers)();
}

} // namespace cudart_cpu::detail
