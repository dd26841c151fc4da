// Fills of memory.
#pragma once

#include "native_result.hpp"
#include "used_range.hpp"

#include <cudag/detail/operand.hpp>

#include <string>

namespace cudag::detail {

class Fields;

/// The problem if the range is empty or null, or its pitch is too small or no multiple of an element; empty if there is
/// none.
[[nodiscard]] std::string problem_of(const SetParams& set);
/// The reason why CUDA cannot update an exec's node from `current` to `next`; empty if it can, or reports the reason.
[[nodiscard]] std::string problem_in_exec(const SetParams& current, const SetParams& next);

[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const SetParams& set);
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const SetParams& set);
[[nodiscard]] SetParams read_set(cudaGraphNode_t node);

void compare(const SetParams& before, const SetParams& after, Fields& fields);
[[nodiscard]] std::string title(const SetParams& set);

template <class Use>
void for_each_region(const SetParams& set, const Use& use) {
    MemoryRegion region = region_at(set.destination, set.size * set.element_bytes);
    region.rows = set.height;
    region.pitch = set.pitch;
    use(0, AccessMode::write, region, set.element_bytes);
}

} // namespace cudag::detail
