// Nodes made and read by plain CUDA: by its functions for nodes of any kind, where the driver lacks those for one kind.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <type_traits>
#include <vector>

#include "cuda_edges.hpp"
#include "driver_functions.hpp"
#include "test.hpp"

using NativeNodes = std::vector<cudaGraphNode_t>;

/// Adds a node with these parameters to `graph`, after `from`.
inline cudaGraphNode_t add_native_node(cudaGraph_t graph, const NativeNodes& from, cudaGraphNodeParams& params) {
    cudaGraphNode_t node = nullptr;
    cudag::check(add_any_node(&node, graph, from.data(), from.size(), &params));
    return node;
}

// Each adds a node of one kind likewise.
inline cudaGraphNode_t add_native_empty(cudaGraph_t graph, const NativeNodes& from = {}) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeEmpty;
    return add_native_node(graph, from, params);
}
inline cudaGraphNode_t add_native_kernel(cudaGraph_t graph, const NativeNodes& from,
                                         const cudaKernelNodeParams& launch) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = launch.func;
    params.kernel.gridDim = launch.gridDim;
    params.kernel.blockDim = launch.blockDim;
    params.kernel.sharedMemBytes = launch.sharedMemBytes;
    params.kernel.kernelParams = launch.kernelParams;
    params.kernel.extra = launch.extra;
    return add_native_node(graph, from, params);
}
inline cudaGraphNode_t add_native_memset(cudaGraph_t graph, const NativeNodes& from, const cudaMemsetParams& set) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemset;
    params.memset.dst = set.dst;
    params.memset.pitch = set.pitch;
    params.memset.value = set.value;
    params.memset.elementSize = set.elementSize;
    params.memset.width = set.width;
    params.memset.height = set.height;
    return add_native_node(graph, from, params);
}
inline cudaGraphNode_t add_native_memcpy(cudaGraph_t graph, const NativeNodes& from, const cudaMemcpy3DParms& copy) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemcpy;
    params.memcpy.copyParams = copy;
    return add_native_node(graph, from, params);
}
inline cudaGraphNode_t add_native_memcpy(cudaGraph_t graph, const NativeNodes& from, void* to, const void* what,
                                         std::size_t bytes, cudaMemcpyKind kind) {
    cudaMemcpy3DParms copy{};
    copy.dstPtr = {to, bytes, bytes, 1};
    copy.srcPtr = {const_cast<void*>(what), bytes, bytes, 1};
    copy.extent = {bytes, 1, 1};
    copy.kind = kind;
    return add_native_memcpy(graph, from, copy);
}
inline cudaGraphNode_t add_native_host(cudaGraph_t graph, const NativeNodes& from, const cudaHostNodeParams& call) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeHost;
    params.host.fn = call.fn;
    params.host.userData = call.userData;
    return add_native_node(graph, from, params);
}
inline cudaGraphNode_t add_native_event(cudaGraph_t graph, const NativeNodes& from, cudaEvent_t event, bool records) {
    cudaGraphNodeParams params{};
    params.type = records ? cudaGraphNodeTypeEventRecord : cudaGraphNodeTypeWaitEvent;
    (records ? params.eventRecord.event : params.eventWait.event) = event;
    return add_native_node(graph, from, params);
}
/// `inner` is cloned.
inline cudaGraphNode_t add_native_child(cudaGraph_t graph, const NativeNodes& from, cudaGraph_t inner) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = inner;
    return add_native_node(graph, from, params);
}
/// `alloc.dptr` becomes the address.
inline cudaGraphNode_t add_native_alloc(cudaGraph_t graph, const NativeNodes& from, cudaMemAllocNodeParams& alloc) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemAlloc;
    params.alloc.poolProps = alloc.poolProps;
    params.alloc.accessDescs = alloc.accessDescs;
    params.alloc.accessDescCount = alloc.accessDescCount;
    params.alloc.bytesize = alloc.bytesize;
    const cudaGraphNode_t node = add_native_node(graph, from, params);
    alloc.dptr = params.alloc.dptr;
    return node;
}
inline cudaGraphNode_t add_native_free(cudaGraph_t graph, const NativeNodes& from, void* address) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemFree;
    params.free.dptr = address;
    return add_native_node(graph, from, params);
}

/// Whether the driver lacks the functions for nodes of one kind; the CPU runtime claims so on request.
inline bool lacks_functions_of_one_kind() {
    static const bool lacks = driver_function("cuGraphAddKernelNode", 12000) == nullptr;
    return lacks;
}

/// Reads a node by the driver's function for nodes of any kind, of CUDA 13.2.
inline CUgraphNodeParams read_any_node(cudaGraphNode_t node, CUgraphNodeType type) {
    void* const function = driver_function("cuGraphNodeGetParams", 13020);
    REQUIRE(function != nullptr);
    CUgraphNodeParams params{};
    params.type = type;
    using Read = CUresult (*)(CUgraphNode, CUgraphNodeParams*);
    REQUIRE(reinterpret_cast<Read>(function)(node, &params) == CUDA_SUCCESS);
    return params;
}

/// The graph inside a child node.
inline cudaGraph_t native_child(cudaGraphNode_t node) {
    if (lacks_functions_of_one_kind()) return read_any_node(node, CU_GRAPH_NODE_TYPE_GRAPH).graph.graph;
    cudaGraph_t graph = nullptr;
    cudag::check(cudaGraphChildGraphNodeGetGraph(node, &graph));
    return graph;
}
/// The event of a node that records one, or waits for one.
inline cudaEvent_t native_event(cudaGraphNode_t node, bool records) {
    cudaEvent_t event = nullptr;
    if (lacks_functions_of_one_kind())
        event = records ? read_any_node(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD).eventRecord.event
                        : read_any_node(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT).eventWait.event;
    else
        cudag::check(records ? cudaGraphEventRecordNodeGetEvent(node, &event)
                             : cudaGraphEventWaitNodeGetEvent(node, &event));
    return event;
}

inline cudaKernelNodeParams native_kernel(cudaGraphNode_t node) {
    cudaKernelNodeParams params{};
    if (lacks_functions_of_one_kind()) {
        const CUDA_KERNEL_NODE_PARAMS_v3 read = read_any_node(node, CU_GRAPH_NODE_TYPE_KERNEL).kernel;
        params.func = read.func != nullptr ? static_cast<void*>(read.func) : static_cast<void*>(read.kern);
        params.gridDim = dim3(read.gridDimX, read.gridDimY, read.gridDimZ);
        params.blockDim = dim3(read.blockDimX, read.blockDimY, read.blockDimZ);
        params.sharedMemBytes = read.sharedMemBytes;
        params.kernelParams = read.kernelParams;
        params.extra = read.extra;
    } else {
        cudag::check(cudaGraphKernelNodeGetParams(node, &params));
    }
    return params;
}
/// Sets the arguments of a kernel node.
inline void set_native_arguments(cudaGraphNode_t node, const void* kernel, void** arguments) {
    const cudaKernelNodeParams launch = native_kernel(node);
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = const_cast<void*>(kernel);
    params.kernel.gridDim = launch.gridDim;
    params.kernel.blockDim = launch.blockDim;
    params.kernel.kernelParams = arguments;
    cudag::check(cudaGraphNodeSetParams(node, &params));
}
inline cudaMemcpy3DParms native_memcpy(cudaGraphNode_t node) {
#if CUDART_VERSION >= 13020
    if (lacks_functions_of_one_kind()) {
        cudaGraphNodeParams read{};
        read.type = cudaGraphNodeTypeMemcpy;
        cudag::check(cudaGraphNodeGetParams(node, &read));
        return read.memcpy.copyParams;
    }
#endif
    cudaMemcpy3DParms params{};
    cudag::check(cudaGraphMemcpyNodeGetParams(node, &params));
    return params;
}
inline cudaMemsetParams native_memset(cudaGraphNode_t node) {
    cudaMemsetParams params{};
    if (lacks_functions_of_one_kind()) {
        const CUDA_MEMSET_NODE_PARAMS_v2 read = read_any_node(node, CU_GRAPH_NODE_TYPE_MEMSET).memset;
        params.dst = reinterpret_cast<void*>(read.dst); // NOLINT
        params.pitch = read.pitch;
        params.value = read.value;
        params.elementSize = read.elementSize;
        params.width = read.width;
        params.height = read.height;
    } else {
        cudag::check(cudaGraphMemsetNodeGetParams(node, &params));
    }
    return params;
}
inline cudaMemAllocNodeParams native_alloc(cudaGraphNode_t node) {
    cudaMemAllocNodeParams params{};
    if (lacks_functions_of_one_kind()) {
        const CUDA_MEM_ALLOC_NODE_PARAMS_v2 read = read_any_node(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC).alloc;
        params.poolProps.allocType = static_cast<cudaMemAllocationType>(read.poolProps.allocType);
        params.poolProps.handleTypes = static_cast<cudaMemAllocationHandleType>(read.poolProps.handleTypes);
        params.poolProps.location.type = static_cast<cudaMemLocationType>(read.poolProps.location.type);
        params.poolProps.location.id = read.poolProps.location.id;
        params.poolProps.maxSize = read.poolProps.maxSize;
        static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc)); // one type by two names
        params.accessDescs = reinterpret_cast<const cudaMemAccessDesc*>(read.accessDescs);
        params.accessDescCount = read.accessDescCount;
        params.bytesize = read.bytesize;
        params.dptr = reinterpret_cast<void*>(read.dptr); // NOLINT
    } else {
        cudag::check(cudaGraphMemAllocNodeGetParams(node, &params));
    }
    return params;
}
inline void* native_freed(cudaGraphNode_t node) {
    if (lacks_functions_of_one_kind())
        return reinterpret_cast<void*>(read_any_node(node, CU_GRAPH_NODE_TYPE_MEM_FREE).free.dptr); // NOLINT
    void* address = nullptr;
    cudag::check(cudaGraphMemFreeNodeGetParams(node, &address));
    return address;
}
