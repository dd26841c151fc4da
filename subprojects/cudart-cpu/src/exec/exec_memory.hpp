// The effects of an exec's launches on the memory of alloc nodes.
#pragma once

#include "graph/graph_memory.hpp"

#include <vector>

namespace cudart_cpu::detail {

struct ExecGraph;

struct MemoryUse {
    std::vector<GraphMemoryPointer> all;
    std::vector<GraphMemoryPointer> left;  // allocated and not freed
    std::vector<GraphMemoryPointer> freed; // not allocated but freed
};

MemoryUse memory_use_of(const ExecGraph& graph);

/// A launch's answer if memory that it leaves allocated is still allocated: refuse, or free it first.
enum class Unfreed { refuse, free };

/// Records the allocations as they are after a launch. Throws Failure, and changes nothing, if the launch is refused.
void claim(const MemoryUse& use, Unfreed unfreed);

} // namespace cudart_cpu::detail
