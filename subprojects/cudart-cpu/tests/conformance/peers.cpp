// Peer devices, as far as one device can tell.
#include "memory.hpp"

#include <vector>

TEST_CASE("a device is no peer of its own", "[peers]") {
    int can = -1;
    REQUIRE_CUDA(cudaDeviceCanAccessPeer(&can, 0, 0));
    REQUIRE(can == 0);
    REQUIRE_CUDA_ERROR(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
}

TEST_CASE("peers that do not exist are refused", "[peers]") {
    int count = 0;
    REQUIRE_CUDA(cudaGetDeviceCount(&count));
    int can = -1;
    DeviceInts data(1);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&can, 0, count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&can, -1, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(count, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceDisablePeerAccess(count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaMemcpyPeer(data.data(), count, data.data(), 0, sizeof(int)));
}

TEST_CASE("a copy between devices may stay on one", "[peers]") {
    DeviceInts from(2);
    DeviceInts to(2);
    from.write({1, 2});
    SECTION("without a stream") {
        REQUIRE_CUDA(cudaMemcpyPeer(to.data(), 0, from.data(), 0, from.size_bytes()));
    }
    SECTION("in a stream") {
        REQUIRE_CUDA(cudaMemcpyPeerAsync(to.data(), 0, from.data(), 0, from.size_bytes(), nullptr));
    }
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(to.read() == std::vector{1, 2});
}

TEST_CASE("a box may be copied between devices that are one", "[peers]") {
    DeviceInts from(6);
    DeviceInts to(6);
    from.write({1, 2, 3, 4, 5, 6});
    cudaMemcpy3DPeerParms params{};
    params.srcPtr = {from.data(), 3 * sizeof(int), 3, 2};
    params.dstPtr = {to.data(), 3 * sizeof(int), 3, 2};
    params.extent = {2 * sizeof(int), 2, 1};
    SECTION("without a stream") {
        REQUIRE_CUDA(cudaMemcpy3DPeer(&params));
    }
    SECTION("in a stream") {
        REQUIRE_CUDA(cudaMemcpy3DPeerAsync(&params, nullptr));
    }
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(to.read() == std::vector{1, 2, poison, 4, 5, poison});

    int count = 0;
    REQUIRE_CUDA(cudaGetDeviceCount(&count));
    params.dstDevice = count;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaMemcpy3DPeer(&params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy3DPeer(nullptr));
}
