// The same as in cuda12.cpp, as a program calls them that was compiled for per-thread default streams.
#include "cuda12_api.hpp"

#include <cstddef>

namespace {

cudaStream_t own(cudaStream_t stream) {
    return stream == nullptr ? cudaStreamPerThread : stream;
}

} // namespace

CUDA12_API(cudaMemPrefetchAsync_ptsz, const void* pointer, std::size_t count, int device, cudaStream_t stream) {
    return NEXT(cudaMemPrefetchAsync)(pointer, count, cudart_cpu::detail::location_of(device), 0, own(stream));
}

CUDA12_API(cudaMemPrefetchAsync_v2_ptsz, const void* pointer, std::size_t count, cudaMemLocation location,
           unsigned flags, cudaStream_t stream) {
    return NEXT(cudaMemPrefetchAsync)(pointer, count, location, flags, own(stream));
}

CUDA12_API(cudaMemcpyBatchAsync_ptsz, void** destinations, void** sources, std::size_t* sizes, std::size_t count,
           cudaMemcpyAttributes* attributes, std::size_t* first_of_attributes, std::size_t attribute_count,
           std::size_t* failed, cudaStream_t stream) {
    if (failed != nullptr) *failed = ~std::size_t{0}; // which one it was, CUDA 13 does not tell
    return NEXT(cudaMemcpyBatchAsync)(destinations, sources, sizes, count, attributes, first_of_attributes,
                                      attribute_count, own(stream));
}

CUDA12_API(cudaMemcpy3DBatchAsync_ptsz, std::size_t count, cudaMemcpy3DBatchOp* operations, std::size_t* failed,
           unsigned long long flags, cudaStream_t stream) {
    if (failed != nullptr) *failed = ~std::size_t{0};
    return NEXT(cudaMemcpy3DBatchAsync)(count, operations, flags, own(stream));
}

CUDA12_API(cudaStreamGetCaptureInfo_v2_ptsz, cudaStream_t stream, cudaStreamCaptureStatus* status,
           unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** dependencies, std::size_t* count) {
    return NEXT(cudaStreamGetCaptureInfo)(own(stream), status, id, graph, dependencies, nullptr, count);
}

CUDA12_API(cudaStreamGetCaptureInfo_v3_ptsz, cudaStream_t stream, cudaStreamCaptureStatus* status,
           unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
           const cudaGraphEdgeData** data, std::size_t* count) {
    return NEXT(cudaStreamGetCaptureInfo)(own(stream), status, id, graph, dependencies, data, count);
}

CUDA12_API(cudaStreamUpdateCaptureDependencies_ptsz, cudaStream_t stream, cudaGraphNode_t* dependencies,
           std::size_t count, unsigned flags) {
    return NEXT(cudaStreamUpdateCaptureDependencies)(own(stream), dependencies, nullptr, count, flags);
}

CUDA12_API(cudaStreamUpdateCaptureDependencies_v2_ptsz, cudaStream_t stream, cudaGraphNode_t* dependencies,
           const cudaGraphEdgeData* data, std::size_t count, unsigned flags) {
    return NEXT(cudaStreamUpdateCaptureDependencies)(own(stream), dependencies, data, count, flags);
}

CUDA12_API(cudaSignalExternalSemaphoresAsync_v2_ptsz, const cudaExternalSemaphore_t* semaphores,
           const cudaExternalSemaphoreSignalParams* params, unsigned count, cudaStream_t stream) {
    return NEXT(cudaSignalExternalSemaphoresAsync)(semaphores, params, count, own(stream));
}

CUDA12_API(cudaWaitExternalSemaphoresAsync_v2_ptsz, const cudaExternalSemaphore_t* semaphores,
           const cudaExternalSemaphoreWaitParams* params, unsigned count, cudaStream_t stream) {
    return NEXT(cudaWaitExternalSemaphoresAsync)(semaphores, params, count, own(stream));
}
