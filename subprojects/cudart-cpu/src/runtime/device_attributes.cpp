// Device attributes: the device's properties, one at a time.
#include "call.hpp"
#include "device_model.hpp"
#include "device_properties.hpp"
#include "number_in.hpp"
#include "text.hpp"

#include <unordered_map>

namespace cudart_cpu::detail {

namespace {

/// The attributes with the same value on all devices.
std::unordered_map<int, int> common_attributes() {
    const cudaDeviceProp p = device_properties(0);
    return {
        {cudaDevAttrClockRate, clock_khz},
        {cudaDevAttrMemoryClockRate, memory_clock_khz},
        {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
        {cudaDevAttrSingleToDoublePrecisionPerfRatio, single_to_double_ratio},
        {cudaDevAttrNumaId, -1},     // no NUMA
        {cudaDevAttrHostNumaId, -1}, // no NUMA
        {cudaDevAttrSurfaceAlignment, static_cast<int>(p.surfaceAlignment)},
        {cudaDevAttrMaxTexture1DWidth, p.maxTexture1D},
        {cudaDevAttrMaxTexture1DLinearWidth, static_cast<int>(max_linear_texels)},
        {cudaDevAttrMaxTexture1DMipmappedWidth, p.maxTexture1DMipmap},
        {cudaDevAttrMaxTexture1DLayeredWidth, p.maxTexture1DLayered[0]},
        {cudaDevAttrMaxTexture1DLayeredLayers, p.maxTexture1DLayered[1]},
        {cudaDevAttrMaxTexture2DWidth, p.maxTexture2D[0]},
        {cudaDevAttrMaxTexture2DHeight, p.maxTexture2D[1]},
        {cudaDevAttrMaxTexture2DLinearWidth, p.maxTexture2DLinear[0]},
        {cudaDevAttrMaxTexture2DLinearHeight, p.maxTexture2DLinear[1]},
        {cudaDevAttrMaxTexture2DLinearPitch, p.maxTexture2DLinear[2]},
        {cudaDevAttrMaxTexture2DGatherWidth, p.maxTexture2DGather[0]},
        {cudaDevAttrMaxTexture2DGatherHeight, p.maxTexture2DGather[1]},
        {cudaDevAttrMaxTexture2DMipmappedWidth, p.maxTexture2DMipmap[0]},
        {cudaDevAttrMaxTexture2DMipmappedHeight, p.maxTexture2DMipmap[1]},
        {cudaDevAttrMaxTexture2DLayeredWidth, p.maxTexture2DLayered[0]},
        {cudaDevAttrMaxTexture2DLayeredHeight, p.maxTexture2DLayered[1]},
        {cudaDevAttrMaxTexture2DLayeredLayers, p.maxTexture2DLayered[2]},
        {cudaDevAttrMaxTexture3DWidth, p.maxTexture3D[0]},
        {cudaDevAttrMaxTexture3DHeight, p.maxTexture3D[1]},
        {cudaDevAttrMaxTexture3DDepth, p.maxTexture3D[2]},
        {cudaDevAttrMaxTexture3DWidthAlt, p.maxTexture3DAlt[0]},
        {cudaDevAttrMaxTexture3DHeightAlt, p.maxTexture3DAlt[1]},
        {cudaDevAttrMaxTexture3DDepthAlt, p.maxTexture3DAlt[2]},
        {cudaDevAttrMaxTextureCubemapWidth, p.maxTextureCubemap},
        {cudaDevAttrMaxTextureCubemapLayeredWidth, p.maxTextureCubemapLayered[0]},
        {cudaDevAttrMaxTextureCubemapLayeredLayers, p.maxTextureCubemapLayered[1]},
        {cudaDevAttrMaxSurface1DWidth, p.maxSurface1D},
        {cudaDevAttrMaxSurface1DLayeredWidth, p.maxSurface1DLayered[0]},
        {cudaDevAttrMaxSurface1DLayeredLayers, p.maxSurface1DLayered[1]},
        {cudaDevAttrMaxSurface2DWidth, p.maxSurface2D[0]},
        {cudaDevAttrMaxSurface2DHeight, p.maxSurface2D[1]},
        {cudaDevAttrMaxSurface2DLayeredWidth, p.maxSurface2DLayered[0]},
        {cudaDevAttrMaxSurface2DLayeredHeight, p.maxSurface2DLayered[1]},
        {cudaDevAttrMaxSurface2DLayeredLayers, p.maxSurface2DLayered[2]},
        {cudaDevAttrMaxSurface3DWidth, p.maxSurface3D[0]},
        {cudaDevAttrMaxSurface3DHeight, p.maxSurface3D[1]},
        {cudaDevAttrMaxSurface3DDepth, p.maxSurface3D[2]},
        {cudaDevAttrMaxSurfaceCubemapWidth, p.maxSurfaceCubemap},
        {cudaDevAttrMaxSurfaceCubemapLayeredWidth, p.maxSurfaceCubemapLayered[0]},
        {cudaDevAttrMaxSurfaceCubemapLayeredLayers, p.maxSurfaceCubemapLayered[1]},
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, static_shared_limit},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, optin_shared_limit},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, shared_per_multiprocessor},
        {cudaDevAttrReservedSharedMemoryPerBlock, reserved_shared_per_block},
        {cudaDevAttrTotalConstantMemory, static_cast<int>(p.totalConstMem)},
        {cudaDevAttrWarpSize, p.warpSize},
        {cudaDevAttrMaxPitch, static_cast<int>(p.memPitch)},
        {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
        {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrTextureAlignment, static_cast<int>(p.textureAlignment)},
        {cudaDevAttrTexturePitchAlignment, static_cast<int>(p.texturePitchAlignment)},
        {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
        {cudaDevAttrMaxAccessPolicyWindowSize, p.accessPolicyMaxWindowSize},
        {cudaDevAttrMaxPersistingL2CacheSize, p.persistingL2CacheMaxSize},
        {cudaDevAttrMemSyncDomainCount, mem_sync_domains},
        // Supported features.
        {cudaDevAttrCanMapHostMemory, 1},
        {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
        {cudaDevAttrConcurrentKernels, 1},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrStreamPrioritiesSupported, 1},
        {cudaDevAttrManagedMemory, 1},
        {cudaDevAttrConcurrentManagedAccess, 1},
        {cudaDevAttrComputePreemptionSupported, 1},
        {cudaDevAttrMemoryPoolsSupported, 1},
        {cudaDevAttrHostRegisterSupported, 1},
        {cudaDevAttrTimelineSemaphoreInteropSupported, 1},
        {cudaDevAttrGlobalL1CacheSupported, 1},
        {cudaDevAttrLocalL1CacheSupported, 1},
        {cudaDevAttrGpuOverlap, 1},
        {cudaDevAttrCooperativeLaunch, 1},
        {cudaDevAttrClusterLaunch, 1},
        // Unsupported features, and quantities with the value 0.
        {cudaDevAttrComputeMode, 0},
        {cudaDevAttrKernelExecTimeout, 0},
        {cudaDevAttrIntegrated, 0},
        {cudaDevAttrEccEnabled, 0},
        {cudaDevAttrPciDeviceId, 0},
        {cudaDevAttrPciDomainId, 0},
        {cudaDevAttrTccDriver, 0},
        {cudaDevAttrIsMultiGpuBoard, 0},
        {cudaDevAttrMultiGpuBoardGroupID, 0},
        {cudaDevAttrHostNativeAtomicSupported, 0},
        {cudaDevAttrPageableMemoryAccess, 0},
        {cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0},
        {cudaDevAttrDirectManagedMemAccessFromHost, 0},
        {cudaDevAttrHostRegisterReadOnlySupported, 0},
        {cudaDevAttrSparseCudaArraySupported, 0},
        {cudaDevAttrDeferredMappingCudaArraySupported, 0},
        {cudaDevAttrMemoryPoolSupportedHandleTypes, 0},
        {cudaDevAttrIpcEventSupport, 0},
        {cudaDevAttrCanFlushRemoteWrites, 0},
        {cudaDevAttrNumaConfig, 0},
        {cudaDevAttrMpsEnabled, 0},
        {cudaDevAttrGPUDirectRDMASupported, 0},
        {cudaDevAttrGPUDirectRDMAFlushWritesOptions, 0},
        {cudaDevAttrGPUDirectRDMAWritesOrdering, 0},
    };
}

} // namespace

int device_attribute(cudaDeviceAttr attribute, int device) {
    static const auto& common = *new std::unordered_map<int, int>(common_attributes());
    const int number = number_in(attribute);
    if (number == cudaDevAttrPciBusId) return pci_bus_of(device);
    const auto found = common.find(number);
    if (found == common.end()) fail(cudaErrorInvalidValue, text("Invalid device attribute enum value ", number));
    return found->second;
}

} // namespace cudart_cpu::detail
