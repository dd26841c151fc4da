// CUDA 12's functions of memory with other parameters than CUDA 13's.
#include "memory/managed_hints.hpp"
#include "runtime/call.hpp"
#include "submit/copy_batch.hpp"

using namespace cudart_cpu::detail;

#if CUDART_VERSION < 13000

CUDART_CPU_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t count, int device,
                                                cudaStream_t stream) {
    return cudaMemPrefetchAsync_v2(pointer, count, location_of(device), 0, stream);
}

CUDART_CPU_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t count, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise_v2(pointer, count, advice, location_of(device));
}

#endif

#if CUDART_VERSION >= 12080 && CUDART_VERSION < 13000

CUDART_CPU_API cudaError_t cudaEventElapsedTime_v2(float* ms, cudaEvent_t start, cudaEvent_t end) {
    return cudaEventElapsedTime(ms, start, end);
}

CUDART_CPU_API cudaError_t cudaMemcpyBatchAsync(void** destinations, void** sources, std::size_t* sizes,
                                                std::size_t count, cudaMemcpyAttributes* attributes,
                                                std::size_t* first_of_attributes, std::size_t attribute_count,
                                                std::size_t* failed, cudaStream_t stream) {
    return api("cudaMemcpyBatchAsync", [&] {
        submit_copies({destinations, sources, sizes, count, attributes, first_of_attributes, attribute_count}, stream,
                      failed);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy3DBatchAsync(std::size_t count, cudaMemcpy3DBatchOp* operations,
                                                  std::size_t* failed, unsigned long long flags, cudaStream_t stream) {
    return api("cudaMemcpy3DBatchAsync", [&] { submit_copies(operations, count, flags, stream, failed); });
}

#endif
