// CUDA 12's cudaDeviceProp, with some numbers absent from CUDA 13's.
#include "cuda12_properties.hpp"

#include "runtime/device_model.hpp"

#include <cstddef>
#include <cstring>

namespace cudart_cpu::detail {

namespace {

constexpr std::size_t size = 1032;

/// Lays out members one after the other, as a compiler does for a struct.
class Layout {
  public:
    explicit Layout(void* begin) : begin_(static_cast<char*>(begin)) {}

    template <class... T>
    void put(const T&... member) {
        (put_one(member), ...);
    }

  private:
    template <class T>
    void put_one(const T& member) {
        offset_ = (offset_ + alignof(T) - 1) / alignof(T) * alignof(T);
        std::memcpy(begin_ + offset_, &member, sizeof member);
        offset_ += sizeof member;
    }

    char* begin_;
    std::size_t offset_ = 0;
};

} // namespace

void write_cuda12_properties(void* where, const cudaDeviceProp& p) {
    constexpr int overlaps = 1;
    constexpr int no_timeout = 0;
    constexpr int compute_mode = cudaComputeModeDefault;
    constexpr int linear_texels = static_cast<int>(max_linear_texels);
    constexpr int no_cooperation = 0; // among devices: CUDA 13 no longer has the attribute
    std::memset(where, 0, size);
    Layout to(where);
    to.put(p.name, p.uuid, p.luid, p.luidDeviceNodeMask, p.totalGlobalMem, p.sharedMemPerBlock, p.regsPerBlock,
           p.warpSize, p.memPitch, p.maxThreadsPerBlock, p.maxThreadsDim, p.maxGridSize, clock_khz, p.totalConstMem,
           p.major, p.minor, p.textureAlignment, p.texturePitchAlignment, overlaps, p.multiProcessorCount, no_timeout,
           p.integrated, p.canMapHostMemory, compute_mode);
    to.put(p.maxTexture1D, p.maxTexture1DMipmap, linear_texels, p.maxTexture2D, p.maxTexture2DMipmap,
           p.maxTexture2DLinear, p.maxTexture2DGather, p.maxTexture3D, p.maxTexture3DAlt, p.maxTextureCubemap,
           p.maxTexture1DLayered, p.maxTexture2DLayered, p.maxTextureCubemapLayered, p.maxSurface1D, p.maxSurface2D,
           p.maxSurface3D, p.maxSurface1DLayered, p.maxSurface2DLayered, p.maxSurfaceCubemap,
           p.maxSurfaceCubemapLayered, p.surfaceAlignment);
    to.put(p.concurrentKernels, p.ECCEnabled, p.pciBusID, p.pciDeviceID, p.pciDomainID, p.tccDriver, p.asyncEngineCount,
           p.unifiedAddressing, memory_clock_khz, p.memoryBusWidth, p.l2CacheSize, p.persistingL2CacheMaxSize,
           p.maxThreadsPerMultiProcessor, p.streamPrioritiesSupported, p.globalL1CacheSupported,
           p.localL1CacheSupported, p.sharedMemPerMultiprocessor, p.regsPerMultiprocessor, p.managedMemory,
           p.isMultiGpuBoard, p.multiGpuBoardGroupID, p.hostNativeAtomicSupported, single_to_double_ratio);
    to.put(p.pageableMemoryAccess, p.concurrentManagedAccess, p.computePreemptionSupported,
           p.canUseHostPointerForRegisteredMem, p.cooperativeLaunch, no_cooperation, p.sharedMemPerBlockOptin,
           p.pageableMemoryAccessUsesHostPageTables, p.directManagedMemAccessFromHost, p.maxBlocksPerMultiProcessor,
           p.accessPolicyMaxWindowSize, p.reservedSharedMemPerBlock, p.hostRegisterSupported,
           p.sparseCudaArraySupported, p.hostRegisterReadOnlySupported, p.timelineSemaphoreInteropSupported,
           p.memoryPoolsSupported, p.gpuDirectRDMASupported, p.gpuDirectRDMAFlushWritesOptions,
           p.gpuDirectRDMAWritesOrdering, p.memoryPoolSupportedHandleTypes, p.deferredMappingCudaArraySupported,
           p.ipcEventSupported, p.clusterLaunch, p.unifiedFunctionPointers);
}

} // namespace cudart_cpu::detail
