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
