// The driver's functions for graphs, captures and managed memory with other parameters than the runtime's.
#include "driver_frame.hpp"
#include "driver_functions.hpp"

#include "graph/graph_cuda12.hpp"
#include "memory/driver_copies.hpp"
#include "runtime/number_in.hpp"

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail::driver {

namespace {

const cudaMemsetParams* runtime_fill(const CUDA_MEMSET_NODE_PARAMS* params) noexcept {
    static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(cudaMemsetParams));
    return reinterpret_cast<const cudaMemsetParams*>(params);
}

void require_context_or(CUcontext named) {
    if (named == nullptr)
        require_current_context();
    else
        context_of(named); // throws
}

} // namespace

CUresult graph_add_memcpy_node(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                               const CUDA_MEMCPY3D* copy, CUcontext context) {
    return answer("cuGraphAddMemcpyNode", [&] {
        require_pointer(copy, "copyParams");
        require_context_or(context);
        const cudaMemcpy3DParms params = runtime_copy(*copy);
        through([&] { return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &params); });
    });
}
CUresult graph_memcpy_node_get_params(CUgraphNode node, CUDA_MEMCPY3D* copy) {
    return answer("cuGraphMemcpyNodeGetParams", [&] {
        require_pointer(copy, "nodeParams");
        cudaMemcpy3DParms params{};
        through([&] { return cudaGraphMemcpyNodeGetParams(node, &params); });
        *copy = driver_copy(params);
    });
}
CUresult graph_memcpy_node_set_params(CUgraphNode node, const CUDA_MEMCPY3D* copy) {
    return answer("cuGraphMemcpyNodeSetParams", [&] {
        require_pointer(copy, "nodeParams");
        const cudaMemcpy3DParms params = runtime_copy(*copy);
        through([&] { return cudaGraphMemcpyNodeSetParams(node, &params); });
    });
}
CUresult graph_exec_memcpy_node_set_params(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* copy,
                                           CUcontext context) {
    return answer("cuGraphExecMemcpyNodeSetParams", [&] {
        require_pointer(copy, "copyParams");
        require_context_or(context);
        const cudaMemcpy3DParms params = runtime_copy(*copy);
        through([&] { return cudaGraphExecMemcpyNodeSetParams(exec, node, &params); });
    });
}
CUresult graph_add_memset_node(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                               const CUDA_MEMSET_NODE_PARAMS* set, CUcontext context) {
    return answer("cuGraphAddMemsetNode", [&] {
        require_context_or(context);
        through([&] { return cudaGraphAddMemsetNode(node, graph, dependencies, count, runtime_fill(set)); });
    });
}
CUresult graph_exec_memset_node_set_params(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* set,
                                           CUcontext context) {
    return answer("cuGraphExecMemsetNodeSetParams", [&] {
        require_context_or(context);
        through([&] { return cudaGraphExecMemsetNodeSetParams(exec, node, runtime_fill(set)); });
    });
}

// Edges without data.

CUresult graph_get_edges_v1(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
    return answer("cuGraphGetEdges",
                  [&] { through([&] { return cudaGraphGetEdges(graph, from, to, nullptr, count); }); });
}
CUresult graph_node_get_dependencies_v1(CUgraphNode node, CUgraphNode* dependencies, std::size_t* count) {
    return answer("cuGraphNodeGetDependencies",
                  [&] { through([&] { return cudaGraphNodeGetDependencies(node, dependencies, nullptr, count); }); });
}
CUresult graph_node_get_dependent_nodes_v1(CUgraphNode node, CUgraphNode* dependents, std::size_t* count) {
    return answer("cuGraphNodeGetDependentNodes",
                  [&] { through([&] { return cudaGraphNodeGetDependentNodes(node, dependents, nullptr, count); }); });
}
CUresult graph_add_dependencies_v1(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
    return answer("cuGraphAddDependencies",
                  [&] { through([&] { return cudaGraphAddDependencies(graph, from, to, nullptr, count); }); });
}
CUresult graph_remove_dependencies_v1(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      std::size_t count) {
    return answer("cuGraphRemoveDependencies",
                  [&] { through([&] { return cudaGraphRemoveDependencies(graph, from, to, nullptr, count); }); });
}
CUresult graph_add_node_v1(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                           CUgraphNodeParams* params) {
    return graph_add_node(node, graph, dependencies, nullptr, count, params);
}

CUresult graph_exec_update_v1(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node,
                              CUgraphExecUpdateResult* result) {
    CUgraphExecUpdateResultInfo info{};
    const CUresult code = graph_exec_update(exec, graph, &info);
    if (error_node != nullptr) *error_node = info.errorNode;
    if (result != nullptr) *result = info.result;
    return code;
}

CUresult stream_get_capture_info_v1(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
    return answer("cuStreamGetCaptureInfo", [&] {
        require_context_of(stream);
        unsigned long long number = 0;
        through([&] {
            return cudaStreamGetCaptureInfo(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status), &number,
                                            nullptr, nullptr, nullptr, nullptr);
        });
        if (id != nullptr) *id = number;
    });
}
CUresult stream_get_capture_info_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                    const CUgraphNode** dependencies, std::size_t* count) {
    return answer("cuStreamGetCaptureInfo_v2", [&] {
        require_context_of(stream);
        unsigned long long number = 0;
        through([&] {
            return cudaStreamGetCaptureInfo(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status), &number, graph,
                                            dependencies, nullptr, count);
        });
        if (id != nullptr) *id = number;
    });
}
CUresult stream_update_capture_dependencies_v1(CUstream stream, CUgraphNode* dependencies, std::size_t count,
                                               unsigned flags) {
    return answer("cuStreamUpdateCaptureDependencies", [&] {
        require_context_of(stream);
        through([&] { return cudaStreamUpdateCaptureDependencies(stream, dependencies, nullptr, count, flags); });
    });
}

// Locations of managed memory, in CUDA 8's form.

namespace {

cudaMemLocation location_of_device(CUdevice device) {
    cudaMemLocation location{};
    location.type = device == CU_DEVICE_CPU ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == CU_DEVICE_CPU ? 0 : device;
    return location;
}

} // namespace

CUresult mem_prefetch_to_device(CUdeviceptr pointer, std::size_t bytes, CUdevice device, CUstream stream) {
    return answer("cuMemPrefetchAsync", [&] {
        require_context_of(stream);
        through([&] {
            return cudaMemPrefetchAsync(reinterpret_cast<void*>(pointer), bytes, location_of_device(device), 0, stream);
        });
    });
}
CUresult mem_advise_device(CUdeviceptr pointer, std::size_t bytes, CUmem_advise advice, CUdevice device) {
    return answer("cuMemAdvise", [&] {
        through([&] {
            return cudaMemAdvise(reinterpret_cast<void*>(pointer), bytes,
                                 static_cast<cudaMemoryAdvise>(number_in(advice)), location_of_device(device));
        });
    });
}

} // namespace cudart_cpu::detail::driver
