// Handles of copies, fills, events and semaphores: the values of their nodes.
#include <cudag/copy_batch.hpp>
#include <cudag/node.hpp>

#include "cuda/failure.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/names.hpp"
#include "node/node_params.hpp"

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace cudag::detail {

namespace {

/// Calls `use` with the effective parameters of `node`, and returns its result. The graph's lock is held meanwhile.
template <class Use>
auto with_params(const Node& node, const Use& use) {
    const GraphState& graph = GraphIdentity::of(node);
    const std::uint32_t index = GraphIdentity::index_unchecked(node);
    const auto lock = lock_of(graph);
    return use(records_of(graph).params(index));
}

/// Positions count bytes in memory, even if the other side is an array.
void* first_byte(const cudaPitchedPtr& memory, const cudaPos& from) noexcept {
    if (memory.ptr == nullptr) return nullptr;
    return static_cast<std::byte*>(memory.ptr) + (from.z * memory.ysize + from.y) * memory.pitch + from.x;
}

/// Returns the size of the elements that CUDA counts: those of an array if one takes part, otherwise bytes.
std::size_t element_bytes_of(const cudaMemcpy3DParms& copy) {
    const cudaArray_t array = copy.dstArray != nullptr ? copy.dstArray : copy.srcArray;
    if (array == nullptr) return 1;
    cudaChannelFormatDesc format{};
    cudaExtent extent{};
    unsigned flags = 0;
    checked<GraphError>(cudaArrayGetInfo(&format, &extent, &flags, array), "cudaArrayGetInfo");
    return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
}

NodeMemory memory_of(const CopyParams& copy) noexcept {
    return {copy.destination, copy.source, bytes_of(copy)};
}
NodeMemory memory_of(const cudaMemcpy3DParms& copy) {
    return {first_byte(copy.dstPtr, copy.dstPos), first_byte(copy.srcPtr, copy.srcPos),
            copy.extent.width * element_bytes_of(copy) * copy.extent.height * copy.extent.depth};
}
NodeMemory memory_of(const SetParams& set) noexcept {
    return {set.destination, nullptr, set.size * set.element_bytes * set.height};
}

template <class Operation>
std::vector<Operation> operations_of(const Node& node) {
    return with_params(node, [](const NodeParams& params) {
        std::vector<Operation> operations;
        for (const SemaphoreOperation& each : std::get<const SemaphoreParams*>(params)->list())
            operations.push_back({each.semaphore, each.value});
        return operations;
    });
}

} // namespace

NodeMemory memory_of(const CopyInBatch& copy) {
    if (copy.is_node()) return memory_of(copy.node());
    return with_params(copy.node(), [&](const NodeParams& params) {
        const CopyOfBatch& found = std::get<const CopyBatchParams*>(params)->operations[copy.number()];
        return NodeMemory{found.destination, found.source, found.bytes};
    });
}

std::size_t copies_of(const Node& batch) {
    return with_params(
        batch, [](const NodeParams& params) { return std::size_t{std::get<const CopyBatchParams*>(params)->count}; });
}

NodeMemory memory_of(const Node& node) {
    return with_params(node, [](const NodeParams& params) {
        return std::visit(
            [](const auto& block) -> NodeMemory {
                if constexpr (requires { memory_of(*block); })
                    return memory_of(*block);
                else
                    return {};
            },
            params);
    });
}

FillValue fill_value_of(const Node& node) {
    return with_params(node, [](const NodeParams& params) {
        const SetParams& set = *std::get<const SetParams*>(params);
        return FillValue{set.value, set.element_bytes};
    });
}

cudaEvent_t event_of(const Node& node) {
    return with_params(node, [](const NodeParams& params) { return std::get<const EventParams*>(params)->event; });
}

std::vector<MemoryOperation> memory_operations_of(const Node& node) {
    return with_params(node, [](const NodeParams& params) {
        const auto* const* operations = std::get_if<const MemoryOperationParams*>(&params);
        if (operations == nullptr) return std::vector<MemoryOperation>();
        return std::vector<MemoryOperation>((*operations)->list().begin(), (*operations)->list().end());
    });
}
std::vector<SemaphoreSignal> signals_of(const Node& node) {
    return operations_of<SemaphoreSignal>(node);
}
std::vector<SemaphoreWait> waits_of(const Node& node) {
    return operations_of<SemaphoreWait>(node);
}

} // namespace cudag::detail
