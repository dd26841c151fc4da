// The numbers on which conditional nodes decide.
#include "condition.hpp"

#include "launch_context.hpp"
#include "runtime/call.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

void ConditionValues::begin_launch(const std::vector<Condition>& conditions) noexcept {
    for (std::size_t i = 0; i < std::min(conditions.size(), values_.size()); ++i)
        if (conditions[i].is_assigned) set(i + 1, conditions[i].initial);
}

void ConditionValues::set(cudaGraphConditionalHandle handle, unsigned value) noexcept {
    if (handle > 0 && handle <= values_.size()) values_[handle - 1].store(value, std::memory_order_relaxed);
}

unsigned ConditionValues::get(cudaGraphConditionalHandle handle) const noexcept {
    return values_[handle - 1].load(std::memory_order_relaxed);
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

// Called by kernels.
CUDART_CPU_API void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value) {
    if (LaunchContext* launch = current_launch()) launch->conditions.set(handle, value);
}
