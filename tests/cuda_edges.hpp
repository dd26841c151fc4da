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
