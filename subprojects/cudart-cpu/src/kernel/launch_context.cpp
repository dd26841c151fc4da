// The context of a graph's launch, for its kernels.
#include "launch_context.hpp"

#include <utility>

namespace cudart_cpu::detail {

namespace {

thread_local LaunchContext* of_this_thread = nullptr;

} // namespace

LaunchContext* current_launch() noexcept {
    return of_this_thread;
}

LaunchScope::LaunchScope(LaunchContext* context) noexcept : outer_(std::exchange(of_this_thread, context)) {}

LaunchScope::~LaunchScope() {
    of_this_thread = outer_;
}

} // namespace cudart_cpu::detail
