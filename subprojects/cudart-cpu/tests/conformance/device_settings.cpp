// Limits, cache configurations and flags of a device; finding one on the PCI bus.
#include "call.hpp"

#include <cuda_profiler_api.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace {

std::size_t limit_of(cudaLimit limit) {
    std::size_t value = 0;
    REQUIRE_CUDA(cudaDeviceGetLimit(&value, limit));
    return value;
}

} // namespace

TEST_CASE("limits have their defaults", "[device-settings]") {
    REQUIRE(limit_of(cudaLimitStackSize) == 1024);
    REQUIRE(limit_of(cudaLimitMallocHeapSize) == 8 * 1024 * 1024);
    REQUIRE(limit_of(cudaLimitDevRuntimePendingLaunchCount) == 2048);
    cudaDeviceProp properties{};
    REQUIRE_CUDA(cudaGetDeviceProperties(&properties, 0));
    REQUIRE(limit_of(cudaLimitPersistingL2CacheSize) > 0); // 11'796'480 on an H200, 9'830'400 on an H100
    REQUIRE(limit_of(cudaLimitPersistingL2CacheSize) <= static_cast<std::size_t>(properties.persistingL2CacheMaxSize));
}

TEST_CASE("there is room for what kernels print, and the second cache fetches up to 128 bytes", "[device-settings]") {
    REQUIRE(limit_of(cudaLimitPrintfFifoSize) > 0);
    REQUIRE(limit_of(cudaLimitMaxL2FetchGranularity) <= 128);
}

TEST_CASE("a limit that is set is at least what was asked for", "[device-settings]") {
    const std::size_t before = limit_of(cudaLimitStackSize);
    REQUIRE_CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 2000));
    REQUIRE(limit_of(cudaLimitStackSize) >= 2000);
    REQUIRE_CUDA(cudaDeviceSetLimit(cudaLimitStackSize, before));
    REQUIRE(limit_of(cudaLimitStackSize) == before);
    REQUIRE_CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 * 1024 * 1024));
    REQUIRE(limit_of(cudaLimitMallocHeapSize) >= 16 * 1024 * 1024);
}

TEST_CASE("limits that compute capability 9.0 does not have are refused", "[device-settings]") {
    std::size_t value = 77;
    REQUIRE_CUDA_ERROR(cudaErrorUnsupportedLimit, cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 2));
    SECTION("also when they are asked for") {
        REQUIRE_CUDA_ERROR(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth));
        REQUIRE(value == 77);
    }
}

TEST_CASE("a limit needs a place to be written to", "[device-settings]") {
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
}

TEST_CASE("the cache configuration is the one that was set", "[device-settings]") {
    cudaFuncCache config{};
    REQUIRE_CUDA(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    REQUIRE_CUDA(cudaDeviceGetCacheConfig(&config));
    REQUIRE(config == cudaFuncCachePreferL1);
    REQUIRE_CUDA(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
    REQUIRE_CUDA(cudaDeviceGetCacheConfig(&config));
    REQUIRE(config == cudaFuncCachePreferNone);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetCacheConfig(nullptr));
}

TEST_CASE("a kernel has a cache configuration, what is none has not", "[device-settings]") {
    REQUIRE_CUDA(cudaFuncSetCacheConfig(symbol(add), cudaFuncCachePreferShared));
    REQUIRE(cudaFuncSetCacheConfig(reinterpret_cast<const void*>(&not_a_kernel), cudaFuncCachePreferShared) !=
            cudaSuccess);
    static_cast<void>(cudaGetLastError());
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDeviceFunction, cudaFuncSetCacheConfig(nullptr, cudaFuncCachePreferShared));
}

TEST_CASE("flags of a device are kept; mapping host memory is implicit", "[device-settings]") {
    unsigned before = 0;
    REQUIRE_CUDA(cudaGetDeviceFlags(&before));
    REQUIRE_CUDA(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    unsigned flags = 0;
    REQUIRE_CUDA(cudaGetDeviceFlags(&flags));
    REQUIRE((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleBlockingSync);
    REQUIRE((flags & cudaDeviceMapHost) != 0);
    REQUIRE_CUDA(cudaSetDeviceFlags(before & cudaDeviceScheduleMask));
}

TEST_CASE("flags that do not exist are refused", "[device-settings]") {
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaSetDeviceFlags(0x10000));
    SECTION("as is a null result") {
        REQUIRE(cudaGetDeviceFlags(nullptr) != cudaSuccess);
        static_cast<void>(cudaGetLastError());
    }
}

TEST_CASE("two ways to wait exclude each other", "[device-settings]") {
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield));
}

TEST_CASE("a device is initialised with flags or without", "[device-settings]") {
    REQUIRE_CUDA(cudaInitDevice(0, 0, 0));
    REQUIRE_CUDA(cudaInitDevice(0, cudaDeviceScheduleAuto, cudaInitDeviceFlagsAreValid));
    int count = 0;
    REQUIRE_CUDA(cudaGetDeviceCount(&count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaInitDevice(count, 0, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaInitDevice(-1, 0, 0));
}

TEST_CASE("flags of an initialisation that do not exist mean nothing", "[device-settings]") {
    REQUIRE_CUDA(cudaInitDevice(0, 0, 0x100));
}

TEST_CASE("a device is found by its place on the PCI bus", "[device-settings]") {
    char id[32] = {};
    REQUIRE_CUDA(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    const std::string full = id;
    REQUIRE(full.size() >= 12);
    REQUIRE(std::count(full.begin(), full.end(), ':') == 2);
    int device = -1;
    REQUIRE_CUDA(cudaDeviceGetByPCIBusId(&device, id));
    REQUIRE(device == 0);
    device = -1;
    REQUIRE_CUDA(cudaDeviceGetByPCIBusId(&device, full.substr(0, full.find('.')).c_str())); // domain:bus:device
    REQUIRE(device == 0);

    int bus = 0;
    REQUIRE_CUDA(cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, 0));
    REQUIRE(std::stoi(full.substr(full.find(':') + 1), nullptr, 16) == bus);
    cudaDeviceProp properties{};
    REQUIRE_CUDA(cudaGetDeviceProperties(&properties, 0));
    REQUIRE(properties.pciBusID == bus);
}

TEST_CASE("PCI bus ids that are none are refused", "[device-settings]") {
    int device = 77;
    char id[32] = {};
    int count = 0;
    REQUIRE_CUDA(cudaGetDeviceCount(&count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&device, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(nullptr, "0000:01:00.0"));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceGetByPCIBusId(&device, "0000:fe:1f.7"));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(nullptr, 32, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceGetPCIBusId(id, sizeof id, count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceGetPCIBusId(id, sizeof id, -1));
    REQUIRE(device == 77);
}

TEST_CASE("a PCI bus id of another form, or with too little room, is refused", "[device-settings]") {
    int device = 77;
    char id[32] = {};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&device, "not a bus"));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&device, ""));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(id, 5, 0));
    REQUIRE(device == 77);
}

TEST_CASE("a device is chosen", "[device-settings]") {
    cudaDeviceProp wanted{};
    wanted.major = 9;
    int device = -1;
    int count = 0;
    REQUIRE_CUDA(cudaGetDeviceCount(&count));
    REQUIRE_CUDA(cudaChooseDevice(&device, &wanted));
    REQUIRE(device >= 0);
    REQUIRE(device < count);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaChooseDevice(nullptr, &wanted));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaChooseDevice(&device, nullptr));
}

TEST_CASE("the sizes of textures are those of compute capability 9.0", "[device-settings]") {
    cudaDeviceProp p{};
    REQUIRE_CUDA(cudaGetDeviceProperties(&p, 0));
    REQUIRE(p.textureAlignment == 512);
    REQUIRE(p.texturePitchAlignment == 32);
    REQUIRE(p.maxTexture1D == 131072);
    REQUIRE(p.maxTexture2D[0] == 131072);
    REQUIRE(p.maxTexture2D[1] == 65536);
    REQUIRE(p.maxTexture3D[0] == 16384);
    REQUIRE(p.maxTexture2DLayered[2] == 2048);
    REQUIRE(p.maxSurface2D[0] == 131072);
    int width = 0;
    REQUIRE_CUDA(cudaDeviceGetAttribute(&width, cudaDevAttrMaxTexture1DWidth, 0));
    REQUIRE(width == p.maxTexture1D);
}

TEST_CASE("a linear texture may be wide", "[device-settings]") {
    const cudaChannelFormatDesc floats{32, 0, 0, 0, cudaChannelFormatKindFloat};
    std::size_t width = 0;
    REQUIRE_CUDA(cudaDeviceGetTexture1DLinearMaxWidth(&width, &floats, 0));
    REQUIRE(width >= (std::size_t{1} << 27));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetTexture1DLinearMaxWidth(nullptr, &floats, 0));
}

TEST_CASE("attributes of two devices need two devices", "[device-settings]") {
    int value = 77;
    int count = 0;
    REQUIRE_CUDA(cudaGetDeviceCount(&count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice,
                       cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, count));
    REQUIRE(value == 77);
}

TEST_CASE("marks for a profiler are taken", "[device-settings]") {
    REQUIRE_CUDA(cudaProfilerStart());
    REQUIRE_CUDA(cudaProfilerStop());
}
