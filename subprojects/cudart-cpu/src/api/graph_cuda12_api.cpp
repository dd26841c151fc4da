// CUDA 12's functions without edge data.
#include "runtime/call.hpp"

#if CUDART_VERSION < 13000

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                      const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                                      struct cudaGraphNodeParams* nodeParams) {
    return cudaGraphAddNode_v2(pGraphNode, graph, pDependencies, nullptr, numDependencies, nodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                                       size_t* numEdges) {
    return cudaGraphGetEdges_v2(graph, from, to, nullptr, numEdges);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* pDependencies,
                                                                  size_t* pNumDependencies) {
    return cudaGraphNodeGetDependencies_v2(node, pDependencies, nullptr, pNumDependencies);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                                    cudaGraphNode_t* pDependentNodes,
                                                                    size_t* pNumDependentNodes) {
    return cudaGraphNodeGetDependentNodes_v2(node, pDependentNodes, nullptr, pNumDependentNodes);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                              const cudaGraphNode_t* to, size_t numDependencies) {
    return cudaGraphAddDependencies_v2(graph, from, to, nullptr, numDependencies);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                                 const cudaGraphNode_t* to, size_t numDependencies) {
    return cudaGraphRemoveDependencies_v2(graph, from, to, nullptr, numDependencies);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                                 unsigned long long* id, cudaGraph_t* graph,
                                                                 const cudaGraphNode_t** dependencies, size_t* count) {
    return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr, count);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                                         cudaGraphNode_t* dependencies,
                                                                         size_t numDependencies, unsigned int flags) {
    return cudaStreamUpdateCaptureDependencies_v2(stream, dependencies, nullptr, numDependencies, flags);
}

#endif
