// Edges of CUDA's graphs: 13.0 folded the variants with edge data into the original names.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

/// `data` may be null if no edge carries any.
inline cudaError_t get_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                             std::size_t* count) {
#if CUDART_VERSION >= 13000
    return cudaGraphGetEdges(graph, from, to, data, count);
#else
    return cudaGraphGetEdges_v2(graph, from, to, data, count);
#endif
}

inline cudaError_t add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                    const cudaGraphEdgeData* data, std::size_t count) {
#if CUDART_VERSION >= 13000
    return cudaGraphAddDependencies(graph, from, to, data, count);
#else
    return cudaGraphAddDependencies_v2(graph, from, to, data, count);
#endif
}

inline cudaError_t add_any_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* from,
                                std::size_t count, cudaGraphNodeParams* params) {
#if CUDART_VERSION >= 13000
    return cudaGraphAddNode(node, graph, from, nullptr, count, params);
#else
    return cudaGraphAddNode(node, graph, from, count, params);
#endif
}

/// What the next node of a capture comes after.
inline cudaError_t get_capture_front(cudaStream_t stream, cudaStreamCaptureStatus* status, cudaGraph_t* graph,
                                     const cudaGraphNode_t** front, std::size_t* count) {
#if CUDART_VERSION >= 13000
    const cudaGraphEdgeData* data = nullptr;
    return cudaStreamGetCaptureInfo(stream, status, nullptr, graph, front, &data, count);
#else
    return cudaStreamGetCaptureInfo_v2(stream, status, nullptr, graph, front, count);
#endif
}
inline cudaError_t set_capture_front(cudaStream_t stream, cudaGraphNode_t* node) {
#if CUDART_VERSION >= 13000
    return cudaStreamUpdateCaptureDependencies(stream, node, nullptr, 1, cudaStreamSetCaptureDependencies);
#else
    return cudaStreamUpdateCaptureDependencies(stream, node, 1, cudaStreamSetCaptureDependencies);
#endif
}
