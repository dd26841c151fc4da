// Alloc and free nodes of graph memory.
#include "allocation.hpp"

#include <fmt/format.h>

namespace cudag::detail {

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const NewAllocation& wanted, AllocParams& made) {
    cudaMemAllocNodeParams native{};
    native.poolProps.allocType = cudaMemAllocationTypePinned;
    native.poolProps.handleTypes = cudaMemHandleTypeNone;
    native.poolProps.location.type = cudaMemLocationTypeDevice;
    native.poolProps.location.id = wanted.device;
    native.poolProps.maxSize = wanted.max_pool_bytes;
    native.accessDescs = wanted.peers.empty() ? nullptr : wanted.peers.data();
    native.accessDescCount = wanted.peers.size();
    native.bytesize = wanted.bytes;
    const cudaError_t status =
        cudaGraphAddMemAllocNode(&node, graph, wanted.after.data(), wanted.after.size(), &native);
    made = {native.dptr, native.bytesize, wanted.device};
    return {status, "cudaGraphAddMemAllocNode"};
}

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const FreeParams& free) {
    return {cudaGraphAddMemFreeNode(&node, graph, nullptr, 0, free.address), "cudaGraphAddMemFreeNode"};
}

AllocParams read_alloc(cudaGraphNode_t node) {
    cudaMemAllocNodeParams native{};
    checked<GraphError>(cudaGraphMemAllocNodeGetParams(node, &native), "cudaGraphMemAllocNodeGetParams");
    return {native.dptr, native.bytesize, native.poolProps.location.id};
}

FreeParams read_free(cudaGraphNode_t node) {
    void* address = nullptr;
    checked<GraphError>(cudaGraphMemFreeNodeGetParams(node, &address), "cudaGraphMemFreeNodeGetParams");
    return {address};
}

std::string title(const AllocParams& alloc) {
    return fmt::format("alloc {} bytes", alloc.bytes);
}

} // namespace cudag::detail
