// Additions of nodes with memory operations.
#include "add_node.hpp"

#include "graph/allocations.hpp"

#include <cudag/detail/memory_operand.hpp>
#include <cudag/detail/record.hpp>

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// The memory at `address`, if `graph` allocates it, in words; else empty.
std::string graph_memory_at(const GraphState& graph, const void* address) {
    const GraphAllocation* memory = graph.records().allocations().find(reinterpret_cast<std::uintptr_t>(address));
    return memory == nullptr ? std::string() : "graph memory, of " + describe_node(graph, *memory->alloc);
}

/// The memory at `address`, if CUDA has no memory operations in it, in words; else empty. Throws GraphError.
std::string other_memory_at(const void* address) {
    cudaPointerAttributes attributes{};
    checked<GraphError>(cudaPointerGetAttributes(&attributes, address), "cudaPointerGetAttributes");
    if (attributes.type == cudaMemoryTypeManaged) return "managed memory";
    if (attributes.type != cudaMemoryTypeDevice) return {};
    CUmemoryPool pool = nullptr;
    const CUresult result = driver().pointer_get_attribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                                                           reinterpret_cast<CUdeviceptr>(address));
    checked_driver<GraphError>(result, "cuPointerGetAttribute");
    return pool == nullptr ? std::string() : "memory of a pool";
}

/// CUDA looks at the memory in the launch, and then only says "invalid argument" (driver 580).
void require_operable(const GraphState& graph, const MemoryOperation& operation, const SourceLocation& where) {
    if (operation.address == nullptr) return;
    std::string memory = graph_memory_at(graph, operation.address);
    if (memory.empty()) memory = other_memory_at(operation.address);
    if (memory.empty()) return;
    refuse(fmt::format("the address {} is {}, in which CUDA refuses memory operations; use a DeviceBuffer or a "
                       "PinnedBuffer",
                       operation.address, memory),
           new_node_subject(NodeKind::batch_mem_op, where));
}

} // namespace

Node add_memory_operations(GraphState& graph, std::span<const MemoryOperation> operations, Owners&& owners,
                           const SourceLocation& where) {
    std::vector<MemoryOperation> list(operations.begin(), operations.end());
    const MemoryOperationParams params{current_context(), static_cast<std::uint32_t>(list.size()), list.data()};
    require_allowed(graph, NodeKind::batch_mem_op, where);
    require_sound(params, [&] { return new_node_subject(NodeKind::batch_mem_op, where); });
    for (const MemoryOperation& each : list)
        require_operable(graph, each, where);
    return add_node(graph, NodeKind::batch_mem_op, params, {.owners = std::move(owners)}, where);
}

void require_one_number(std::size_t count) {
    if (count != 1)
        refuse(fmt::format("a memory operation takes memory of one number, not of {}; pass a pointer to the number, or "
                           "its part of the span",
                           count));
}

} // namespace cudag::detail
