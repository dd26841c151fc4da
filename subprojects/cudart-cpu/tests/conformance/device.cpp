// Devices: selection, limits, versions.
#include "test.hpp"

#include <string>

TEST_CASE("the first device is current from the start", "[device]") {
    int count = 0;
    REQUIRE_CUDA(cudaGetDeviceCount(&count));
    REQUIRE(count >= 1);
    int device = -1;
    REQUIRE_CUDA(cudaGetDevice(&device));
    REQUIRE(device == 0);
    REQUIRE_CUDA(cudaSetDevice(0));
}

TEST_CASE("a device that does not exist is refused, and the current one stays", "[device]") {
    int count = 0;
    REQUIRE_CUDA(cudaGetDeviceCount(&count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaSetDevice(count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaSetDevice(-1));
    int device = -1;
    REQUIRE_CUDA(cudaGetDevice(&device));
    REQUIRE(device == 0);

    int value = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, -1));
    cudaDeviceProp properties{};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, count));
}

TEST_CASE("null results are refused by the device queries", "[device]") {
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGetDevice(nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGetDeviceCount(nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGetDeviceProperties(nullptr, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaRuntimeGetVersion(nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDriverGetVersion(nullptr));
}

TEST_CASE("launch limits are those of a Hopper GPU", "[device]") {
    const auto attribute = [](cudaDeviceAttr which) {
        int value = -1;
        REQUIRE_CUDA(cudaDeviceGetAttribute(&value, which, 0));
        return value;
    };
    REQUIRE(attribute(cudaDevAttrMaxThreadsPerBlock) == 1024);
    REQUIRE(attribute(cudaDevAttrMaxBlockDimX) == 1024);
    REQUIRE(attribute(cudaDevAttrMaxBlockDimY) == 1024);
    REQUIRE(attribute(cudaDevAttrMaxBlockDimZ) == 64);
    REQUIRE(attribute(cudaDevAttrMaxGridDimX) == 2147483647);
    REQUIRE(attribute(cudaDevAttrMaxGridDimY) == 65535);
    REQUIRE(attribute(cudaDevAttrMaxGridDimZ) == 65535);
    REQUIRE(attribute(cudaDevAttrMaxSharedMemoryPerBlock) == 49152);
    REQUIRE(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) == 232448);
    REQUIRE(attribute(cudaDevAttrWarpSize) == 32);
    REQUIRE(attribute(cudaDevAttrUnifiedAddressing) == 1);
    REQUIRE(attribute(cudaDevAttrMemoryPoolsSupported) == 1);
    REQUIRE(attribute(cudaDevAttrPageableMemoryAccess) == 0);

    cudaDeviceProp properties{};
    REQUIRE_CUDA(cudaGetDeviceProperties(&properties, 0));
    REQUIRE(std::string(properties.name) != "");
    REQUIRE(properties.maxThreadsPerBlock == 1024);
    REQUIRE(properties.maxGridSize[1] == 65535);
    REQUIRE(properties.sharedMemPerBlock == 49152);
    REQUIRE(properties.warpSize == 32);
    REQUIRE(properties.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount));
}

TEST_CASE("an attribute that does not exist is refused", "[device]") {
    int value = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(255), 0));
}

TEST_CASE("the runtime is the one whose headers were compiled, and the driver is recent enough for it",
          "[device][headers]") {
    int runtime = 0;
    int driver = 0;
    REQUIRE_CUDA(cudaRuntimeGetVersion(&runtime));
    REQUIRE_CUDA(cudaDriverGetVersion(&driver));
    REQUIRE(runtime == CUDART_VERSION);
    REQUIRE(driver >= runtime);
}
