// The devices of nodes, as far as CUDA or the builder knows them.
#include "node_devices.hpp"

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/node_calls.hpp"
#include "cuda/numbered_contexts.hpp"
#include "graph_records.hpp"
#include "node/node_params.hpp"

#include <cstdint>
#include <type_traits>
#include <variant>

namespace cudag::detail {

namespace {

/// Returns the device of memory that the graph allocates; any_device for other memory.
int device_of_graph_memory(const GraphRecords& records, const void* memory) {
    const GraphAllocation* const own = records.allocations().find(reinterpret_cast<std::uintptr_t>(memory));
    return own == nullptr ? any_device : std::get<const AllocParams*>(records.params(*own->alloc))->device;
}

/// Returns the device of device memory; any_device for other memory. CUDA does not know graph memory outside launches.
int device_of_memory(const GraphRecords& records, const void* memory) {
    if (memory == nullptr) return any_device;
    if (const int own = device_of_graph_memory(records, memory); own != any_device) return own;
    cudaPointerAttributes attributes{};
    const cudaError_t status = cudaPointerGetAttributes(&attributes, memory);
    ignore(status);
    return status == cudaSuccess && attributes.type == cudaMemoryTypeDevice ? attributes.device : any_device;
}

int device_of_copy(const GraphRecords& records, const void* destination, const void* source) {
    const int device = device_of_memory(records, destination);
    return device != any_device ? device : device_of_memory(records, source);
}

} // namespace

int NodeDevices::of_kernel(cudaGraphNode_t node) {
    CUcontext const context = read_native_node(node, CU_GRAPH_NODE_TYPE_KERNEL).kernel.ctx;
    const auto [place, is_new] = of_context_.try_emplace(context, any_device);
    if (is_new) place->second = device_of_context(context);
    return place->second;
}

int NodeDevices::to_make(const GraphState& graph, std::uint32_t index) {
    const GraphRecords& records = records_of(graph);
    const NodeKind kind = records.nodes()[index].kind;
    if (kind == NodeKind::kernel || kind == NodeKind::memset) return of(graph, index);
    const auto either = [&](const void* destination, const void* source) {
        const int device = device_of_graph_memory(records, destination);
        return device != any_device ? device : device_of_graph_memory(records, source);
    };
    if (const auto* const* copy = std::get_if<const CopyParams*>(&records.params(index)))
        return either((*copy)->destination, (*copy)->source);
    if (const auto* const* copy = std::get_if<const cudaMemcpy3DParms*>(&records.params(index)))
        return either((*copy)->dstPtr.ptr, (*copy)->srcPtr.ptr);
    return any_device;
}

int NodeDevices::of(const GraphState& graph, std::uint32_t index) {
    const GraphRecords& records = records_of(graph);
    if (records.nodes()[index].kind == NodeKind::kernel) return of_kernel(records.natives()[index]);
    if (const int given = records.nodes()[index].device; given != any_device) return device_behind(given);
    return std::visit(
        [&](const auto& params) -> int {
            using Params = std::decay_t<decltype(params)>;
            if constexpr (std::is_same_v<Params, const SetParams*>)
                return device_of_memory(records, params->destination);
            else if constexpr (std::is_same_v<Params, const CopyParams*>)
                return device_of_copy(records, params->destination, params->source);
            else if constexpr (std::is_same_v<Params, const cudaMemcpy3DParms*>)
                return device_of_copy(records, params->dstPtr.ptr, params->srcPtr.ptr);
            else if constexpr (std::is_same_v<Params, const CopyBatchParams*>)
                return device_of_copy(records, params->operations[0].destination, params->operations[0].source);
            else if constexpr (std::is_same_v<Params, const AllocParams*>)
                return params->device;
            else if constexpr (std::is_same_v<Params, const FreeParams*>)
                return device_of_memory(records, params->address);
            else
                return any_device;
        },
        records.params(index));
}

} // namespace cudag::detail
