// What the one device says about itself.
#include "device_properties.hpp"

#include "call.hpp"
#include "device_model.hpp"
#include "graph/graph_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace cudart_cpu::detail {

std::size_t device_memory_bytes() {
    static const std::size_t bytes =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
    return bytes;
}

cudaDeviceProp device_properties() {
    cudaDeviceProp p{};
    std::strcpy(p.name, "cudart-cpu");
    std::memcpy(p.uuid.bytes, "cudart-cpu-dev-0", sizeof p.uuid.bytes);
    p.totalGlobalMem = device_memory_bytes();
    p.sharedMemPerBlock = static_shared_limit;
    p.sharedMemPerBlockOptin = optin_shared_limit;
    p.sharedMemPerMultiprocessor = shared_per_multiprocessor;
    p.reservedSharedMemPerBlock = reserved_shared_per_block;
    p.regsPerBlock = 65536;
    p.regsPerMultiprocessor = 65536;
    p.warpSize = warp_size;
    p.memPitch = max_pitch;
    p.maxThreadsPerBlock = max_threads_per_block;
    p.maxThreadsPerMultiProcessor = threads_per_multiprocessor;
    p.maxBlocksPerMultiProcessor = blocks_per_multiprocessor;
    std::ranges::copy(max_block, p.maxThreadsDim);
    std::ranges::copy(max_grid, p.maxGridSize);
    p.totalConstMem = 65536;
    p.major = compute_major;
    p.minor = compute_minor;
    p.textureAlignment = 512;
    p.texturePitchAlignment = 32;
    p.multiProcessorCount = multiprocessors;
    p.canMapHostMemory = 1;
    p.concurrentKernels = 1;
    p.asyncEngineCount = 3;
    p.unifiedAddressing = 1;
    p.l2CacheSize = 50 * 1024 * 1024;
    p.persistingL2CacheMaxSize = p.l2CacheSize / 8 * 5;
    p.accessPolicyMaxWindowSize = static_cast<int>(max_access_policy_window);
    p.cooperativeLaunch = 1;
    p.clusterLaunch = 1;
    p.streamPrioritiesSupported = 1;
    p.managedMemory = 1;
    p.concurrentManagedAccess = 1;
    p.computePreemptionSupported = 1;
    p.canUseHostPointerForRegisteredMem = 1;
    p.memoryPoolsSupported = 1;
    return p;
}

int device_attribute(cudaDeviceAttr attribute) {
    static const cudaDeviceProp p = device_properties();
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX:
        return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY:
        return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ:
        return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX:
        return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY:
        return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ:
        return p.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock:
        return static_shared_limit;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return optin_shared_limit;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        return shared_per_multiprocessor;
    case cudaDevAttrReservedSharedMemoryPerBlock:
        return reserved_shared_per_block;
    case cudaDevAttrTotalConstantMemory:
        return static_cast<int>(p.totalConstMem);
    case cudaDevAttrWarpSize:
        return p.warpSize;
    case cudaDevAttrMaxPitch:
        return static_cast<int>(p.memPitch);
    case cudaDevAttrMaxRegistersPerBlock:
        return p.regsPerBlock;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
        return p.regsPerMultiprocessor;
    case cudaDevAttrMultiProcessorCount:
        return p.multiProcessorCount;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
        return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrComputeCapabilityMajor:
        return p.major;
    case cudaDevAttrComputeCapabilityMinor:
        return p.minor;
    case cudaDevAttrL2CacheSize:
        return p.l2CacheSize;
    case cudaDevAttrTextureAlignment:
        return static_cast<int>(p.textureAlignment);
    case cudaDevAttrTexturePitchAlignment:
        return static_cast<int>(p.texturePitchAlignment);
    case cudaDevAttrAsyncEngineCount:
        return p.asyncEngineCount;
    case cudaDevAttrMaxAccessPolicyWindowSize:
        return p.accessPolicyMaxWindowSize;
    case cudaDevAttrMaxPersistingL2CacheSize:
        return p.persistingL2CacheMaxSize;
    case cudaDevAttrMemSyncDomainCount:
        return mem_sync_domains;
    // Supported.
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrClusterLaunch:
        return 1;
    // Not supported, or none.
    case cudaDevAttrComputeMode:
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrIntegrated:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrTccDriver:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrMultiGpuBoardGroupID:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrHostRegisterSupported:
        return 0;
    default:
        fail(cudaErrorInvalidValue, text("Invalid device attribute enum value ", static_cast<int>(attribute)));
    }
}

} // namespace cudart_cpu::detail
