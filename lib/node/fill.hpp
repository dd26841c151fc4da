// Fills of memory.
#pragma once

#include "access.hpp"
#include "native_result.hpp"

#include <cudag/detail/operand.hpp>

#include <string>

namespace cudag::detail {

class Fields;

/// What is wrong if the range is empty or null, or its pitch is too small or no multiple of an element; empty if
/// nothing is.
[[nodiscard]] std::string problem_of(const SetParams& set);
/// Why CUDA cannot give `next` to a node that has `current` in an exec; empty if it can, or says itself why not.
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
