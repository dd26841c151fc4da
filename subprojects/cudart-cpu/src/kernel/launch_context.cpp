// What kernels of a graph's launch can ask about it.
#include "launch_context.hpp"

#include <utility>

namespace cudart_cpu::detail {

namespace {

thread_local LaunchContext* current = nullptr;

} // namespace

LaunchContext* current_launch() noexcept {
    return current;
}

LaunchScope::LaunchScope(LaunchContext* context) noexcept : outer_(std::exchange(current, context)) {}

LaunchScope::~LaunchScope() {
    current = outer_;
}

} // namespace cudart_cpu::detail
