// Functions refused by name: memory and events shared with other processes, devices or APIs.
#include "runtime/call.hpp"
#include "runtime/text.hpp"

using namespace cudart_cpu::detail;

namespace {

cudaError_t refuse(const char* name) {
    return api(name, [=] { fail(cudaErrorNotSupported, text("cudart-cpu has no ", name)); });
}

} // namespace

CUDART_CPU_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
    return refuse("cudaIpcGetEventHandle");
}

CUDART_CPU_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
    return refuse("cudaIpcOpenEventHandle");
}

CUDART_CPU_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) {
    return refuse("cudaIpcGetMemHandle");
}

CUDART_CPU_API cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) {
    return refuse("cudaIpcOpenMemHandle");
}

CUDART_CPU_API cudaError_t cudaIpcCloseMemHandle(void*) {
    return refuse("cudaIpcCloseMemHandle");
}

CUDART_CPU_API cudaError_t cudaMemPoolExportToShareableHandle(void*, cudaMemPool_t, cudaMemAllocationHandleType,
                                                              unsigned) {
    return refuse("cudaMemPoolExportToShareableHandle");
}

CUDART_CPU_API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t*, void*, cudaMemAllocationHandleType,
                                                                unsigned) {
    return refuse("cudaMemPoolImportFromShareableHandle");
}

CUDART_CPU_API cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData*, void*) {
    return refuse("cudaMemPoolExportPointer");
}

CUDART_CPU_API cudaError_t cudaMemPoolImportPointer(void**, cudaMemPool_t, cudaMemPoolPtrExportData*) {
    return refuse("cudaMemPoolImportPointer");
}

CUDART_CPU_API cudaError_t cudaImportExternalMemory(cudaExternalMemory_t*, const cudaExternalMemoryHandleDesc*) {
    return refuse("cudaImportExternalMemory");
}

CUDART_CPU_API cudaError_t cudaExternalMemoryGetMappedBuffer(void**, cudaExternalMemory_t,
                                                             const cudaExternalMemoryBufferDesc*) {
    return refuse("cudaExternalMemoryGetMappedBuffer");
}

CUDART_CPU_API cudaError_t cudaExternalMemoryGetMappedMipmappedArray(cudaMipmappedArray_t*, cudaExternalMemory_t,
                                                                     const cudaExternalMemoryMipmappedArrayDesc*) {
    return refuse("cudaExternalMemoryGetMappedMipmappedArray");
}

CUDART_CPU_API cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t) {
    return refuse("cudaDestroyExternalMemory");
}

CUDART_CPU_API cudaError_t cudaDeviceRegisterAsyncNotification(int, cudaAsyncCallback, void*,
                                                               cudaAsyncCallbackHandle_t*) {
    return refuse("cudaDeviceRegisterAsyncNotification");
}

CUDART_CPU_API cudaError_t cudaDeviceUnregisterAsyncNotification(int, cudaAsyncCallbackHandle_t) {
    return refuse("cudaDeviceUnregisterAsyncNotification");
}

CUDART_CPU_API cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget,
                                                              cudaFlushGPUDirectRDMAWritesScope) {
    return refuse("cudaDeviceFlushGPUDirectRDMAWrites");
}

CUDART_CPU_API cudaError_t cudaDeviceGetNvSciSyncAttributes(void*, int, int) {
    return refuse("cudaDeviceGetNvSciSyncAttributes");
}

/// The refusal is not logged: NVIDIA's own libraries ask for optional tables, and lines about each would hide the real
/// errors.
CUDART_CPU_API cudaError_t cudaGetExportTable(const void** table, const cudaUUID_t*) {
    if (table != nullptr) *table = nullptr;
    return cudaErrorNotSupported;
}
