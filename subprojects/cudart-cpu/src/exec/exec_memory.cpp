// The effects of an exec's launches on the memory of alloc nodes.
#include "exec_memory.hpp"

#include "exec_model.hpp"
#include "graph/graph_alloc_work.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

struct Nodes {
    std::vector<GraphAllocationPointer> allocated;
    std::vector<GraphAllocationPointer> freed;
};

void add_nodes(Nodes& nodes, const ExecGraph& graph) {
    for (const NodeState& state : graph.states) {
        if (state.work->type() == cudaGraphNodeTypeMemAlloc)
            nodes.allocated.push_back(static_cast<const AllocWork&>(*state.work).allocation());
        if (state.work->type() == cudaGraphNodeTypeMemFree)
            nodes.freed.push_back(static_cast<const FreeWork&>(*state.work).allocation());
        for (const ExecGraph& body : state.bodies)
            add_nodes(nodes, body);
    }
}

/// The memory of the allocations in `all` but not in `without`.
std::vector<GraphMemoryPointer> memory_of(const std::vector<GraphAllocationPointer>& all,
                                          const std::vector<GraphAllocationPointer>& without) {
    std::vector<GraphMemoryPointer> result;
    for (const GraphAllocationPointer& one : all)
        if (std::ranges::find(without, one) == without.end()) result.push_back(one->memory);
    return result;
}

} // namespace

MemoryUse memory_use_of(const ExecGraph& graph) {
    Nodes nodes;
    add_nodes(nodes, graph);
    return {memory_of(nodes.allocated, {}), memory_of(nodes.allocated, nodes.freed),
            memory_of(nodes.freed, nodes.allocated)};
}

void claim(const MemoryUse& use, Unfreed unfreed) {
    for (const GraphMemoryPointer& memory : use.left)
        if (unfreed == Unfreed::refuse && memory->is_allocated())
            fail(cudaErrorInvalidValue,
                 text("Attempting to launch a graph with unfreed allocation at address ", memory->address()));
    for (const GraphMemoryPointer& memory : use.freed)
        if (!memory->is_allocated())
            fail(cudaErrorInvalidValue,
                 text("Attempting to launch a graph which frees unallocated memory at address ", memory->address()));
    for (const GraphMemoryPointer& memory : use.freed)
        memory->end_allocation();
    for (const GraphMemoryPointer& memory : use.left)
        if (!memory->is_allocated()) memory->begin_allocation();
}

} // namespace cudart_cpu::detail
