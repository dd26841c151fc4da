// What code that was compiled for per-thread default streams calls, beside copies and fills: the same functions, for
// which the default stream is cudaStreamPerThread.
#include "runtime/call.hpp"
#include "stream/stream.hpp"

// CUDA advises against some of them, but programs call them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaEventRecord(event, stream);
}

CUDART_CPU_API cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    const PerThreadDefault here;
    return cudaEventRecordWithFlags(event, stream, flags);
}

CUDART_CPU_API cudaError_t cudaFreeAsync_ptsz(void* devPtr, cudaStream_t hStream) {
    const PerThreadDefault here;
    return cudaFreeAsync(devPtr, hStream);
}

CUDART_CPU_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** funcPtr, unsigned long long flags,
                                                        cudaDriverEntryPointQueryResult* driverStatus) {
    const PerThreadDefault here;
    return cudaGetDriverEntryPoint(symbol, funcPtr, flags, driverStatus);
}

CUDART_CPU_API cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                                               cudaGraphInstantiateParams* instantiateParams) {
    const PerThreadDefault here;
    return cudaGraphInstantiateWithParams(pGraphExec, graph, instantiateParams);
}

CUDART_CPU_API cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t graphExec, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaGraphLaunch(graphExec, stream);
}

CUDART_CPU_API cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t graphExec, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaGraphUpload(graphExec, stream);
}

CUDART_CPU_API cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                                            std::size_t sharedMem, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaLaunchCooperativeKernel(func, gridDim, blockDim, args, sharedMem, stream);
}

CUDART_CPU_API cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t fn, void* userData) {
    const PerThreadDefault here;
    return cudaLaunchHostFunc(stream, fn, userData);
}

CUDART_CPU_API cudaError_t cudaLaunchKernel_ptsz(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                                 std::size_t sharedMem, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaLaunchKernel(func, gridDim, blockDim, args, sharedMem, stream);
}

CUDART_CPU_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* func, void** args) {
    const PerThreadDefault here;
    return cudaLaunchKernelExC(config, func, args);
}

CUDART_CPU_API cudaError_t cudaMallocAsync_ptsz(void** devPtr, std::size_t size, cudaStream_t hStream) {
    const PerThreadDefault here;
    return cudaMallocAsync(devPtr, size, hStream);
}

CUDART_CPU_API cudaError_t cudaMallocFromPoolAsync_ptsz(void** ptr, std::size_t size, cudaMemPool_t memPool,
                                                        cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMallocFromPoolAsync(ptr, size, memPool, stream);
}

CUDART_CPU_API cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback,
                                                      void* userData, unsigned flags) {
    const PerThreadDefault here;
    return cudaStreamAddCallback(stream, callback, userData, flags);
}

CUDART_CPU_API cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* devPtr, std::size_t length,
                                                         unsigned flags) {
    const PerThreadDefault here;
    return cudaStreamAttachMemAsync(stream, devPtr, length, flags);
}

CUDART_CPU_API cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
    const PerThreadDefault here;
    return cudaStreamBeginCapture(stream, mode);
}

CUDART_CPU_API cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                                              const cudaGraphNode_t* dependencies,
                                                              const cudaGraphEdgeData* dependencyData,
                                                              std::size_t numDependencies, cudaStreamCaptureMode mode) {
    const PerThreadDefault here;
    return cudaStreamBeginCaptureToGraph(stream, graph, dependencies, dependencyData, numDependencies, mode);
}

CUDART_CPU_API cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t dst, cudaStream_t src) {
    const PerThreadDefault here;
    return cudaStreamCopyAttributes(dst, src);
}

CUDART_CPU_API cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* pGraph) {
    const PerThreadDefault here;
    return cudaStreamEndCapture(stream, pGraph);
}

CUDART_CPU_API cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t hStream, cudaStreamAttrID attr,
                                                       cudaStreamAttrValue* value_out) {
    const PerThreadDefault here;
    return cudaStreamGetAttribute(hStream, attr, value_out);
}

CUDART_CPU_API cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t hStream, unsigned* flags) {
    const PerThreadDefault here;
    return cudaStreamGetFlags(hStream, flags);
}

CUDART_CPU_API cudaError_t cudaStreamGetId_ptsz(cudaStream_t hStream, unsigned long long* streamId) {
    const PerThreadDefault here;
    return cudaStreamGetId(hStream, streamId);
}

CUDART_CPU_API cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t hStream, int* priority) {
    const PerThreadDefault here;
    return cudaStreamGetPriority(hStream, priority);
}

CUDART_CPU_API cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* pCaptureStatus) {
    const PerThreadDefault here;
    return cudaStreamIsCapturing(stream, pCaptureStatus);
}

CUDART_CPU_API cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaStreamQuery(stream);
}

CUDART_CPU_API cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t hStream, cudaStreamAttrID attr,
                                                       const cudaStreamAttrValue* value) {
    const PerThreadDefault here;
    return cudaStreamSetAttribute(hStream, attr, value);
}

CUDART_CPU_API cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaStreamSynchronize(stream);
}

CUDART_CPU_API cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    const PerThreadDefault here;
    return cudaStreamWaitEvent(stream, event, flags);
}

#if CUDART_VERSION >= 12080

CUDART_CPU_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** funcPtr,
                                                                 unsigned cudaVersion, unsigned long long flags,
                                                                 cudaDriverEntryPointQueryResult* driverStatus) {
    const PerThreadDefault here;
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, cudaVersion, flags, driverStatus);
}

CUDART_CPU_API cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t hStream, int* device) {
    const PerThreadDefault here;
    return cudaStreamGetDevice(hStream, device);
}

#endif

#if CUDART_VERSION >= 13000

CUDART_CPU_API cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(void** dptrs, std::size_t* sizes, std::size_t count,
                                                                    cudaMemLocation* prefetchLocs,
                                                                    std::size_t* prefetchLocIdxs,
                                                                    std::size_t numPrefetchLocs,
                                                                    unsigned long long flags, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemDiscardAndPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs,
                                               flags, stream);
}

CUDART_CPU_API cudaError_t cudaMemDiscardBatchAsync_ptsz(void** dptrs, std::size_t* sizes, std::size_t count,
                                                         unsigned long long flags, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemDiscardBatchAsync(dptrs, sizes, count, flags, stream);
}

CUDART_CPU_API cudaError_t cudaMemPrefetchAsync_ptsz(const void* devPtr, std::size_t count, cudaMemLocation location,
                                                     unsigned flags, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemPrefetchAsync(devPtr, count, location, flags, stream);
}

CUDART_CPU_API cudaError_t cudaMemPrefetchBatchAsync_ptsz(void** dptrs, std::size_t* sizes, std::size_t count,
                                                          cudaMemLocation* prefetchLocs, std::size_t* prefetchLocIdxs,
                                                          std::size_t numPrefetchLocs, unsigned long long flags,
                                                          cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags,
                                     stream);
}

CUDART_CPU_API cudaError_t cudaMemcpy3DBatchAsync_ptsz(std::size_t numOps, cudaMemcpy3DBatchOp* opList,
                                                       unsigned long long flags, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpy3DBatchAsync(numOps, opList, flags, stream);
}

CUDART_CPU_API cudaError_t cudaMemcpyBatchAsync_ptsz(void* const* dsts, const void* const* srcs,
                                                     const std::size_t* sizes, std::size_t count,
                                                     cudaMemcpyAttributes* attrs, std::size_t* attrsIdxs,
                                                     std::size_t numAttrs, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, stream);
}

CUDART_CPU_API cudaError_t cudaSignalExternalSemaphoresAsync_ptsz(const cudaExternalSemaphore_t* extSemArray,
                                                                  const cudaExternalSemaphoreSignalParams* paramsArray,
                                                                  unsigned numExtSems, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaSignalExternalSemaphoresAsync(extSemArray, paramsArray, numExtSems, stream);
}

CUDART_CPU_API cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream,
                                                         cudaStreamCaptureStatus* captureStatus_out,
                                                         unsigned long long* id_out, cudaGraph_t* graph_out,
                                                         const cudaGraphNode_t** dependencies_out,
                                                         const cudaGraphEdgeData** edgeData_out,
                                                         std::size_t* numDependencies_out) {
    const PerThreadDefault here;
    return cudaStreamGetCaptureInfo(stream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                                    numDependencies_out);
}

CUDART_CPU_API cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                                    const cudaGraphEdgeData* dependencyData,
                                                                    std::size_t numDependencies, unsigned flags) {
    const PerThreadDefault here;
    return cudaStreamUpdateCaptureDependencies(stream, dependencies, dependencyData, numDependencies, flags);
}

CUDART_CPU_API cudaError_t cudaWaitExternalSemaphoresAsync_ptsz(const cudaExternalSemaphore_t* extSemArray,
                                                                const cudaExternalSemaphoreWaitParams* paramsArray,
                                                                unsigned numExtSems, cudaStream_t stream) {
    const PerThreadDefault here;
    return cudaWaitExternalSemaphoresAsync(extSemArray, paramsArray, numExtSems, stream);
}

#endif
