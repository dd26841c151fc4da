// What the launches of an exec do to the memory of alloc nodes.
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

/// Whether a launch may find the memory allocated that it leaves allocated.
enum class Unfreed { refuse, free };

/// What is allocated after a launch. Throws Failure, and changes nothing, if the launch cannot be.
void claim(const MemoryUse& use, Unfreed unfreed);

} // namespace cudart_cpu::detail
