// Memory sets outside graphs.
#include "gate.hpp"
#include "nodes.hpp"

#include <vector>

TEST_CASE("memory is set byte by byte, and not beyond", "[memset]") {
    DeviceInts device(4);
    REQUIRE_CUDA(cudaMemset(device.data() + 1, 0x11, 8));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(device.read() == std::vector{poison, 0x11111111, 0x11111111, poison});
}

TEST_CASE("only the low byte of a memset value counts", "[memset]") {
    DeviceInts device(1);
    REQUIRE_CUDA(cudaMemset(device.data(), 0x1122, 4));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(device.read() == std::vector{0x22222222});
}

TEST_CASE("a memset of a stream runs in its order, after the call returned", "[memset]") {
    Stream stream;
    DeviceInts device(2);
    Call set(store, device.data(), 0, 5);
    Gate gate;
    gate.block(stream);
    set.launch(stream);
    REQUIRE_CUDA(cudaMemsetAsync(device.data(), 0, 4, stream));
    set.argument<1>() = 1;
    set.launch(stream);
    REQUIRE_NOT_READY(cudaStreamQuery(stream));
    gate.open();
    stream.synchronize();
    REQUIRE(device.read() == std::vector{0, 5});
}

TEST_CASE("pinned memory can be set", "[memset]") {
    PinnedInts pinned(2);
    REQUIRE_CUDA(cudaMemset(pinned.data(), 0, 4));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(pinned.read() == std::vector{0, poison});
}

TEST_CASE("setting nothing succeeds", "[memset]") {
    DeviceInts device(1);
    REQUIRE_CUDA(cudaMemset(device.data(), 0, 0));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(device.read() == std::vector{poison});
}

TEST_CASE("memory that is not CUDA's, or not all of it, cannot be set", "[memset]") {
    Stream stream;
    DeviceInts device(4);
    int pageable = poison;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemset(&pageable, 0, 4));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemset(nullptr, 0, 4));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemset(device.data(), 0, 4096));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemsetAsync(&pageable, 0, 4, stream));
    REQUIRE(pageable == poison);
    REQUIRE(device.read() == std::vector<int>(4, poison));
}

TEST_CASE("a two-dimensional memset skips the padding", "[memset]") {
    DeviceInts device(6);
    REQUIRE_CUDA(cudaMemset2D(device.data(), 12, 0, 8, 2));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(device.read() == std::vector{0, 0, poison, 0, 0, poison});
}
