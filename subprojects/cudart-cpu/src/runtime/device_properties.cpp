// Device properties as reported to programs.
#include "device_properties.hpp"

#include "cuda_versions.hpp"
#include "device_model.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace cudart_cpu::detail {

std::size_t device_memory_bytes() {
    static const std::size_t bytes =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
    return bytes;
}

namespace {

template <std::size_t N>
void set(int (&member)[N], const int (&values)[N]) {
    std::ranges::copy(values, member);
}

/// Sets the size limits of textures and surfaces.
void set_texture_limits(cudaDeviceProp& p) {
    p.textureAlignment = texture_alignment;
    p.texturePitchAlignment = texture_pitch_alignment;
    p.surfaceAlignment = texture_alignment;
    p.maxTexture1D = 131072;
    p.maxTexture1DMipmap = 32768;
    set(p.maxTexture2D, {131072, 65536});
    set(p.maxTexture2DMipmap, {32768, 32768});
    set(p.maxTexture2DLinear,
        {static_cast<int>(max_pitched_texture_width), static_cast<int>(max_pitched_texture_height),
         static_cast<int>(max_pitched_texture_pitch)});
    set(p.maxTexture2DGather, {32768, 32768});
    set(p.maxTexture3D, {16384, 16384, 16384});
    set(p.maxTexture3DAlt, {8192, 8192, 32768});
    p.maxTextureCubemap = 32768;
    set(p.maxTexture1DLayered, {32768, 2048});
    set(p.maxTexture2DLayered, {32768, 32768, 2048});
    set(p.maxTextureCubemapLayered, {32768, 2046});
    p.maxSurface1D = 32768;
    set(p.maxSurface2D, {131072, 65536});
    set(p.maxSurface3D, {16384, 16384, 16384});
    set(p.maxSurface1DLayered, {32768, 2048});
    set(p.maxSurface2DLayered, {32768, 32768, 2048});
    p.maxSurfaceCubemap = 32768;
    set(p.maxSurfaceCubemapLayered, {32768, 2046});
}

} // namespace

cudaDeviceProp device_properties(int device) {
    cudaDeviceProp p{};
    std::strcpy(p.name, "cudart-cpu");
    std::memcpy(p.uuid.bytes, "cudart-cpu-dev-0", sizeof p.uuid.bytes);
    p.uuid.bytes[sizeof p.uuid.bytes - 1] = static_cast<char>('0' + device);
    p.pciBusID = pci_bus_of(device);
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
    set_texture_limits(p);
    p.multiProcessorCount = multiprocessors();
    p.canMapHostMemory = 1;
    p.concurrentKernels = 1;
    p.asyncEngineCount = 3;
    p.unifiedAddressing = 1;
    p.memoryBusWidth = memory_bus_bits;
    p.globalL1CacheSupported = 1;
    p.localL1CacheSupported = 1;
    p.l2CacheSize = l2_cache_bytes;
    p.persistingL2CacheMaxSize = static_cast<int>(max_persisting_cache);
    p.accessPolicyMaxWindowSize = static_cast<int>(max_access_policy_window);
    p.cooperativeLaunch = 1;
    p.clusterLaunch = 1;
    p.streamPrioritiesSupported = 1;
    p.managedMemory = 1;
    p.concurrentManagedAccess = 1;
    p.computePreemptionSupported = 1;
    p.canUseHostPointerForRegisteredMem = 1;
    p.hostRegisterSupported = 1;
    p.timelineSemaphoreInteropSupported = 1;
    p.memoryPoolsSupported = 1;
    compat::set_properties_of_version(p);
    return p;
}

} // namespace cudart_cpu::detail
