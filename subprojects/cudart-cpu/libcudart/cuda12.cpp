// The functions with other parameters in CUDA 12 than in CUDA 13, for programs of CUDA 12.
#include "cuda12_api.hpp"
#include "cuda12_properties.hpp"

#include <cstddef>
#include <cstring>

namespace {

constexpr int newest_cuda12 = 12090;

/// The size of CUDA 12's cudaResourceDesc, which ends with the largest kind of resource. CUDA 13's has more room, and
/// flags.
constexpr std::size_t cuda12_resource_bytes =
    (offsetof(cudaResourceDesc, res) + sizeof(cudaResourceDesc{}.res.pitch2D) + alignof(cudaResourceDesc) - 1) /
    alignof(cudaResourceDesc) * alignof(cudaResourceDesc);

struct Resource {
    explicit Resource(const void* cuda12) {
        if (cuda12 != nullptr) std::memcpy(&desc, cuda12, cuda12_resource_bytes);
        given = cuda12 != nullptr;
    }

    [[nodiscard]] const cudaResourceDesc* get() const { return given ? &desc : nullptr; }

    cudaResourceDesc desc{};
    bool given;
};

/// Copies the description written by `ask` to a program of CUDA 12.
template <class Ask>
cudaError_t give_resource(void* cuda12, Ask&& ask) {
    cudaResourceDesc desc{};
    const cudaError_t code = ask(cuda12 == nullptr ? nullptr : &desc);
    if (code == cudaSuccess) std::memcpy(cuda12, &desc, cuda12_resource_bytes);
    return code;
}

} // namespace

CUDA12_API(cudaRuntimeGetVersion, int* version) {
    const cudaError_t code = NEXT(cudaRuntimeGetVersion)(version);
    if (code == cudaSuccess) *version = newest_cuda12;
    return code;
}

CUDA12_API(cudaGetDeviceProperties_v2, void* properties, int device) {
    cudaDeviceProp newer;
    const cudaError_t code = NEXT(cudaGetDeviceProperties)(properties == nullptr ? nullptr : &newer, device);
    if (code == cudaSuccess) cudart_cpu::detail::write_cuda12_properties(properties, newer);
    return code;
}

CUDA12_API(cudaChooseDevice, int* device, const void* properties) {
    const cudaDeviceProp newer{}; // all devices are alike
    return NEXT(cudaChooseDevice)(device, properties == nullptr ? nullptr : &newer);
}

CUDA12_API(cudaThreadSynchronize) {
    return NEXT(cudaDeviceSynchronize)();
}

CUDA12_API(cudaThreadExit) {
    return NEXT(cudaDeviceReset)();
}

CUDA12_API(cudaEventElapsedTime_v2, float* ms, cudaEvent_t start, cudaEvent_t end) {
    return NEXT(cudaEventElapsedTime)(ms, start, end);
}

CUDA12_API(cudaMemAdvise, const void* pointer, std::size_t count, cudaMemoryAdvise advice, int device) {
    return NEXT(cudaMemAdvise)(pointer, count, advice, cudart_cpu::detail::location_of(device));
}

CUDA12_API(cudaMemAdvise_v2, const void* pointer, std::size_t count, cudaMemoryAdvise advice,
           cudaMemLocation location) {
    return NEXT(cudaMemAdvise)(pointer, count, advice, location);
}

CUDA12_API(cudaMemPrefetchAsync, const void* pointer, std::size_t count, int device, cudaStream_t stream) {
    return NEXT(cudaMemPrefetchAsync)(pointer, count, cudart_cpu::detail::location_of(device), 0, stream);
}

CUDA12_API(cudaMemPrefetchAsync_v2, const void* pointer, std::size_t count, cudaMemLocation location, unsigned flags,
           cudaStream_t stream) {
    return NEXT(cudaMemPrefetchAsync)(pointer, count, location, flags, stream);
}

CUDA12_API(cudaMemcpyBatchAsync, void** destinations, void** sources, std::size_t* sizes, std::size_t count,
           cudaMemcpyAttributes* attributes, std::size_t* first_of_attributes, std::size_t attribute_count,
           std::size_t* failed, cudaStream_t stream) {
    if (failed != nullptr) *failed = ~std::size_t{0}; // CUDA 13 does not report the index
    return NEXT(cudaMemcpyBatchAsync)(destinations, sources, sizes, count, attributes, first_of_attributes,
                                      attribute_count, stream);
}

CUDA12_API(cudaMemcpy3DBatchAsync, std::size_t count, cudaMemcpy3DBatchOp* operations, std::size_t* failed,
           unsigned long long flags, cudaStream_t stream) {
    if (failed != nullptr) *failed = ~std::size_t{0};
    return NEXT(cudaMemcpy3DBatchAsync)(count, operations, flags, stream);
}

CUDA12_API(cudaCreateTextureObject, cudaTextureObject_t* texture, const void* resource, const cudaTextureDesc* sampling,
           const cudaResourceViewDesc* view) {
    return NEXT(cudaCreateTextureObject)(texture, Resource(resource).get(), sampling, view);
}

CUDA12_API(cudaGetTextureObjectResourceDesc, void* resource, cudaTextureObject_t texture) {
    return give_resource(resource,
                         [=](cudaResourceDesc* desc) { return NEXT(cudaGetTextureObjectResourceDesc)(desc, texture); });
}

CUDA12_API(cudaCreateSurfaceObject, cudaSurfaceObject_t* surface, const void* resource) {
    return NEXT(cudaCreateSurfaceObject)(surface, Resource(resource).get());
}

CUDA12_API(cudaGetSurfaceObjectResourceDesc, void* resource, cudaSurfaceObject_t surface) {
    return give_resource(resource,
                         [=](cudaResourceDesc* desc) { return NEXT(cudaGetSurfaceObjectResourceDesc)(desc, surface); });
}

CUDA12_API(cudaGraphAddNode, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
           std::size_t count, cudaGraphNodeParams* params) {
    return NEXT(cudaGraphAddNode)(node, graph, dependencies, nullptr, count, params);
}

CUDA12_API(cudaGraphAddNode_v2, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
           const cudaGraphEdgeData* data, std::size_t count, cudaGraphNodeParams* params) {
    return NEXT(cudaGraphAddNode)(node, graph, dependencies, data, count, params);
}

CUDA12_API(cudaGraphGetEdges, cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, std::size_t* count) {
    return NEXT(cudaGraphGetEdges)(graph, from, to, nullptr, count);
}

CUDA12_API(cudaGraphGetEdges_v2, cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
           std::size_t* count) {
    return NEXT(cudaGraphGetEdges)(graph, from, to, data, count);
}

CUDA12_API(cudaGraphNodeGetDependencies, cudaGraphNode_t node, cudaGraphNode_t* dependencies, std::size_t* count) {
    return NEXT(cudaGraphNodeGetDependencies)(node, dependencies, nullptr, count);
}

CUDA12_API(cudaGraphNodeGetDependencies_v2, cudaGraphNode_t node, cudaGraphNode_t* dependencies,
           cudaGraphEdgeData* data, std::size_t* count) {
    return NEXT(cudaGraphNodeGetDependencies)(node, dependencies, data, count);
}

CUDA12_API(cudaGraphNodeGetDependentNodes, cudaGraphNode_t node, cudaGraphNode_t* dependents, std::size_t* count) {
    return NEXT(cudaGraphNodeGetDependentNodes)(node, dependents, nullptr, count);
}

CUDA12_API(cudaGraphNodeGetDependentNodes_v2, cudaGraphNode_t node, cudaGraphNode_t* dependents,
           cudaGraphEdgeData* data, std::size_t* count) {
    return NEXT(cudaGraphNodeGetDependentNodes)(node, dependents, data, count);
}

CUDA12_API(cudaGraphAddDependencies, cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
           std::size_t count) {
    return NEXT(cudaGraphAddDependencies)(graph, from, to, nullptr, count);
}

CUDA12_API(cudaGraphAddDependencies_v2, cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
           const cudaGraphEdgeData* data, std::size_t count) {
    return NEXT(cudaGraphAddDependencies)(graph, from, to, data, count);
}

CUDA12_API(cudaGraphRemoveDependencies, cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
           std::size_t count) {
    return NEXT(cudaGraphRemoveDependencies)(graph, from, to, nullptr, count);
}

CUDA12_API(cudaGraphRemoveDependencies_v2, cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
           const cudaGraphEdgeData* data, std::size_t count) {
    return NEXT(cudaGraphRemoveDependencies)(graph, from, to, data, count);
}

CUDA12_API(cudaStreamGetCaptureInfo_v2, cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
           cudaGraph_t* graph, const cudaGraphNode_t** dependencies, std::size_t* count) {
    return NEXT(cudaStreamGetCaptureInfo)(stream, status, id, graph, dependencies, nullptr, count);
}

CUDA12_API(cudaStreamGetCaptureInfo_v3, cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
           cudaGraph_t* graph, const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** data,
           std::size_t* count) {
    return NEXT(cudaStreamGetCaptureInfo)(stream, status, id, graph, dependencies, data, count);
}

CUDA12_API(cudaStreamUpdateCaptureDependencies, cudaStream_t stream, cudaGraphNode_t* dependencies, std::size_t count,
           unsigned flags) {
    return NEXT(cudaStreamUpdateCaptureDependencies)(stream, dependencies, nullptr, count, flags);
}

CUDA12_API(cudaStreamUpdateCaptureDependencies_v2, cudaStream_t stream, cudaGraphNode_t* dependencies,
           const cudaGraphEdgeData* data, std::size_t count, unsigned flags) {
    return NEXT(cudaStreamUpdateCaptureDependencies)(stream, dependencies, data, count, flags);
}

CUDA12_API(cudaSignalExternalSemaphoresAsync_v2, const cudaExternalSemaphore_t* semaphores,
           const cudaExternalSemaphoreSignalParams* params, unsigned count, cudaStream_t stream) {
    return NEXT(cudaSignalExternalSemaphoresAsync)(semaphores, params, count, stream);
}

CUDA12_API(cudaWaitExternalSemaphoresAsync_v2, const cudaExternalSemaphore_t* semaphores,
           const cudaExternalSemaphoreWaitParams* params, unsigned count, cudaStream_t stream) {
    return NEXT(cudaWaitExternalSemaphoresAsync)(semaphores, params, count, stream);
}

CUDA12_PER_THREAD(cudaMemPrefetchAsync, 4)
CUDA12_PER_THREAD(cudaMemPrefetchAsync_v2, 5)
CUDA12_PER_THREAD(cudaMemcpy3DBatchAsync, 5)
CUDA12_PER_THREAD(cudaMemcpyBatchAsync, 9)
CUDA12_PER_THREAD(cudaSignalExternalSemaphoresAsync_v2, 4)
CUDA12_PER_THREAD(cudaStreamGetCaptureInfo_v2, 6)
CUDA12_PER_THREAD(cudaStreamGetCaptureInfo_v3, 7)
CUDA12_PER_THREAD(cudaStreamUpdateCaptureDependencies, 4)
CUDA12_PER_THREAD(cudaStreamUpdateCaptureDependencies_v2, 5)
CUDA12_PER_THREAD(cudaWaitExternalSemaphoresAsync_v2, 4)
