// Alloc and free nodes of graph memory.
#include "allocation.hpp"

#include <fmt/format.h>

#include <bit>

namespace cudag::detail {

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const NewAllocation& wanted, AllocParams& made) {
    CUgraphNodeParams params = native_params(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    CUDA_MEM_ALLOC_NODE_PARAMS_v2& native = params.alloc;
    native.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    native.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    native.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    native.poolProps.location.id = wanted.device;
    native.poolProps.maxSize = wanted.max_pool_bytes;
    native.accessDescs = wanted.peers.empty() ? nullptr : wanted.peers.data();
    native.accessDescCount = wanted.peers.size();
    native.bytesize = wanted.bytes;
    const NativeResult result = add_native(node, graph, params, wanted.after);
    made = {std::bit_cast<void*>(native.dptr), native.bytesize, wanted.device};
    return result;
}

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const FreeParams& free) {
    CUgraphNodeParams params = native_params(CU_GRAPH_NODE_TYPE_MEM_FREE);
    params.free.dptr = std::bit_cast<CUdeviceptr>(free.address);
    return add_native(node, graph, params);
}

AllocParams read_alloc(cudaGraphNode_t node) {
    const CUDA_MEM_ALLOC_NODE_PARAMS_v2 native = read_native_node(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC).alloc;
    return {std::bit_cast<void*>(native.dptr), native.bytesize, native.poolProps.location.id};
}

AllocRequest read_request(cudaGraphNode_t node) {
    const CUDA_MEM_ALLOC_NODE_PARAMS_v2 native = read_native_node(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC).alloc;
    AllocRequest request{native.poolProps.maxSize, {}};
    for (std::size_t i = 0; i < native.accessDescCount; ++i)
        if (native.accessDescs[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            request.peers.push_back(native.accessDescs[i].location.id);
    return request;
}

FreeParams read_free(cudaGraphNode_t node) {
    return {std::bit_cast<void*>(read_native_node(node, CU_GRAPH_NODE_TYPE_MEM_FREE).free.dptr)};
}

std::string title(const AllocParams& alloc) {
    return fmt::format("alloc {} bytes", alloc.bytes);
}

} // namespace cudag::detail
