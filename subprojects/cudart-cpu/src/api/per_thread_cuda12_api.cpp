// The per-thread twins of what CUDA 12 has with other parameters than CUDA 13.
#include "runtime/call.hpp"
#include "stream/stream.hpp"

#if CUDART_VERSION < 13000

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaMemPrefetchAsync_ptsz(const void* devPtr, std::size_t count, int dstDevice,
                                                     cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemPrefetchAsync(devPtr, count, dstDevice, stream);
}

CUDART_CPU_API cudaError_t cudaMemPrefetchAsync_v2_ptsz(const void* devPtr, std::size_t count, cudaMemLocation location,
                                                        unsigned flags, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemPrefetchAsync_v2(devPtr, count, location, flags, stream);
}

CUDART_CPU_API cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream,
                                                            cudaStreamCaptureStatus* captureStatus_out,
                                                            unsigned long long* id_out, cudaGraph_t* graph_out,
                                                            const cudaGraphNode_t** dependencies_out,
                                                            std::size_t* numDependencies_out) {
    const PerThreadDefault here;
    return cudaStreamGetCaptureInfo_v2(stream, captureStatus_out, id_out, graph_out, dependencies_out,
                                       numDependencies_out);
}

CUDART_CPU_API cudaError_t cudaStreamGetCaptureInfo_v3_ptsz(cudaStream_t stream,
                                                            cudaStreamCaptureStatus* captureStatus_out,
                                                            unsigned long long* id_out, cudaGraph_t* graph_out,
                                                            const cudaGraphNode_t** dependencies_out,
                                                            const cudaGraphEdgeData** edgeData_out,
                                                            std::size_t* numDependencies_out) {
    const PerThreadDefault here;
    return cudaStreamGetCaptureInfo_v3(stream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                                       numDependencies_out);
}

CUDART_CPU_API cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                                    std::size_t numDependencies, unsigned flags) {
    const PerThreadDefault here;
    return cudaStreamUpdateCaptureDependencies(stream, dependencies, numDependencies, flags);
}

CUDART_CPU_API cudaError_t cudaStreamUpdateCaptureDependencies_v2_ptsz(cudaStream_t stream,
                                                                       cudaGraphNode_t* dependencies,
                                                                       const cudaGraphEdgeData* dependencyData,
                                                                       std::size_t numDependencies, unsigned flags) {
    const PerThreadDefault here;
    return cudaStreamUpdateCaptureDependencies_v2(stream, dependencies, dependencyData, numDependencies, flags);
}

CUDART_CPU_API cudaError_t cudaSignalExternalSemaphoresAsync_v2_ptsz(
    const cudaExternalSemaphore_t* extSemArray, const cudaExternalSemaphoreSignalParams* paramsArray,
    unsigned numExtSems, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaSignalExternalSemaphoresAsync(extSemArray, paramsArray, numExtSems, stream);
}

CUDART_CPU_API cudaError_t cudaWaitExternalSemaphoresAsync_v2_ptsz(const cudaExternalSemaphore_t* extSemArray,
                                                                   const cudaExternalSemaphoreWaitParams* paramsArray,
                                                                   unsigned numExtSems, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaWaitExternalSemaphoresAsync(extSemArray, paramsArray, numExtSems, stream);
}

#endif

#if CUDART_VERSION >= 12080 && CUDART_VERSION < 13000

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaMemcpyBatchAsync_ptsz(void** dsts, void** srcs, std::size_t* sizes, std::size_t count,
                                                     cudaMemcpyAttributes* attrs, std::size_t* attrsIdxs,
                                                     std::size_t numAttrs, std::size_t* failIdx, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, stream);
}

CUDART_CPU_API cudaError_t cudaMemcpy3DBatchAsync_ptsz(std::size_t numOps, cudaMemcpy3DBatchOp* opList,
                                                       std::size_t* failIdx, unsigned long long flags,
                                                       cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpy3DBatchAsync(numOps, opList, failIdx, flags, stream);
}

#endif
