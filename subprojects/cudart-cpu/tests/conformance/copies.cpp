// Copies outside graphs: results, directions, bounds, asynchrony.
#include "gate.hpp"
#include "nodes.hpp"

#include <chrono>
#include <thread>
#include <vector>

TEST_CASE("data goes to the device, across it and back", "[copies]") {
    const std::vector<int> source{1, 2, 3, 4};
    DeviceInts first(4);
    DeviceInts second(4);
    std::vector<int> back(4, poison);
    REQUIRE_CUDA(cudaMemcpy(first.data(), source.data(), 16, cudaMemcpyHostToDevice));
    REQUIRE_CUDA(cudaMemcpy(second.data(), first.data(), 16, cudaMemcpyDeviceToDevice));
    REQUIRE_CUDA(cudaMemcpy(back.data(), second.data(), 16, cudaMemcpyDeviceToHost));
    REQUIRE(back == source);

    std::vector<int> host(4, poison);
    REQUIRE_CUDA(cudaMemcpy(host.data(), source.data(), 16, cudaMemcpyHostToHost));
    REQUIRE(host == source);
}

TEST_CASE("the default kind finds the direction by itself", "[copies]") {
    const std::vector<int> source{1, 2, 3, 4};
    DeviceInts device(4);
    std::vector<int> back(4, poison);
    REQUIRE_CUDA(cudaMemcpy(device.data(), source.data(), 16, cudaMemcpyDefault));
    REQUIRE_CUDA(cudaMemcpy(back.data(), device.data(), 16, cudaMemcpyDefault));
    REQUIRE(back == source);
    std::vector<int> host(4, poison);
    REQUIRE_CUDA(cudaMemcpy(host.data(), source.data(), 16, cudaMemcpyDefault));
    REQUIRE(host == source);
}

TEST_CASE("a copy writes its bytes and no others", "[copies]") {
    const std::vector<int> source{1, 2};
    DeviceInts device(4);
    REQUIRE_CUDA(cudaMemcpy(device.data() + 1, source.data(), 8, cudaMemcpyHostToDevice));
    REQUIRE(device.read() == std::vector{poison, 1, 2, poison});
}

TEST_CASE("pageable memory on a device side of a copy is refused", "[copies]") {
    std::vector<int> host(4, poison);
    std::vector<int> other(4, poison);
    DeviceInts device(4);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(device.data(), host.data(), 16, cudaMemcpyDeviceToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(device.data(), host.data(), 16, cudaMemcpyDeviceToHost));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(host.data(), device.data(), 16, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(host.data(), device.data(), 16, cudaMemcpyDeviceToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(host.data(), other.data(), 16, cudaMemcpyHostToDevice));
    REQUIRE(device.read() == std::vector<int>(4, poison));
    REQUIRE(host == std::vector<int>(4, poison));
}

TEST_CASE("device and pinned memory may stand on either side of a copy", "[copies]") {
    DeviceInts first(1);
    DeviceInts second(1);
    PinnedInts pinned(1);
    const auto copied = [&](cudaMemcpyKind kind) {
        first.write({static_cast<int>(kind)});
        second.write({poison});
        REQUIRE_CUDA(cudaMemcpy(second.data(), first.data(), 4, kind));
        REQUIRE_CUDA(cudaDeviceSynchronize());
        return second.read()[0] == static_cast<int>(kind);
    };
    REQUIRE(copied(cudaMemcpyHostToDevice));
    REQUIRE(copied(cudaMemcpyDeviceToHost));
    REQUIRE(copied(cudaMemcpyHostToHost));

    first.write({7});
    REQUIRE_CUDA(cudaMemcpy(pinned.data(), first.data(), 4, cudaMemcpyDeviceToDevice));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(pinned[0] == 7);
}

TEST_CASE("a copy beyond the end of device memory is refused", "[copies]") {
    const std::vector<int> host(64, 1);
    DeviceInts small(16);
    DeviceInts large(64);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(small.data(), host.data(), 256, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(small.data(), large.data(), 256, cudaMemcpyDeviceToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(small.data() + 15, host.data(), 8, cudaMemcpyHostToDevice));
    REQUIRE(small.read() == std::vector<int>(16, poison));
}

TEST_CASE("bad copy arguments are refused", "[copies]") {
    Stream stream;
    int host = 0;
    DeviceInts device(1);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(nullptr, &host, 4, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(device.data(), nullptr, 4, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection,
                       cudaMemcpy(device.data(), &host, 4, static_cast<cudaMemcpyKind>(7)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpyAsync(nullptr, &host, 4, cudaMemcpyHostToDevice, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMemcpyAsync(device.data(), &host, 4, cudaMemcpyDeviceToDevice, stream));
}

TEST_CASE("copying nothing succeeds", "[copies]") {
    Stream stream;
    int host = 0;
    DeviceInts device(1);
    REQUIRE_CUDA(cudaMemcpy(device.data(), &host, 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA(cudaMemcpyAsync(device.data(), &host, 0, cudaMemcpyHostToDevice, stream));
    stream.synchronize();
    REQUIRE(device.read() == std::vector{poison});
}

TEST_CASE("an asynchronous copy from pageable memory takes the data before it returns", "[copies]") {
    Stream stream;
    DeviceInts device(1);
    int host = 1;
    Gate gate;
    gate.block(stream);
    REQUIRE_CUDA(cudaMemcpyAsync(device.data(), &host, 4, cudaMemcpyHostToDevice, stream));
    host = 2;
    gate.open();
    stream.synchronize();
    REQUIRE(device.read() == std::vector{1});
}

TEST_CASE("an asynchronous copy from pinned memory reads it when it runs", "[copies]") {
    Stream stream;
    DeviceInts device(1);
    PinnedInts pinned(1);
    pinned[0] = 1;
    Gate gate;
    gate.block(stream);
    REQUIRE_CUDA(cudaMemcpyAsync(device.data(), pinned.data(), 4, cudaMemcpyHostToDevice, stream));
    pinned[0] = 2;
    gate.open();
    stream.synchronize();
    REQUIRE(device.read() == std::vector{2});
}

TEST_CASE("an asynchronous copy to pageable memory returns when it has run", "[copies]") {
    Stream stream(cudaStreamNonBlocking);
    DeviceInts device(1);
    Call set(store, device.data(), 0, 5);
    int host = poison;
    Gate gate;
    gate.block(stream);
    set.launch(stream);
    std::thread opener([&] {
        gate.wait_until_entered();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        gate.open();
    });
    const cudaError_t code = cudaMemcpyAsync(&host, device.data(), 4, cudaMemcpyDeviceToHost, stream);
    const int seen = host;
    opener.join();
    REQUIRE(code == cudaSuccess);
    REQUIRE(seen == 5);
}

TEST_CASE("an asynchronous copy to pinned memory returns before it has run", "[copies]") {
    Stream stream(cudaStreamNonBlocking);
    DeviceInts device(1);
    device.write({5});
    PinnedInts pinned(1);
    Gate gate;
    gate.block(stream);
    REQUIRE_CUDA(cudaMemcpyAsync(pinned.data(), device.data(), 4, cudaMemcpyDeviceToHost, stream));
    REQUIRE_NOT_READY(cudaStreamQuery(stream));
    REQUIRE(pinned[0] == poison);
    gate.open();
    stream.synchronize();
    REQUIRE(pinned[0] == 5);
}

TEST_CASE("a two-dimensional copy skips the padding of both sides", "[copies]") {
    const std::vector<int> source{1, 2, 0, 3, 4, 0};
    DeviceInts device(8);
    REQUIRE_CUDA(cudaMemcpy2D(device.data(), 16, source.data(), 12, 8, 2, cudaMemcpyHostToDevice));
    REQUIRE(device.read() == std::vector{1, 2, poison, poison, 3, 4, poison, poison});

    REQUIRE_CUDA_ERROR(cudaErrorInvalidPitchValue,
                       cudaMemcpy2D(device.data(), 4, source.data(), 12, 8, 2, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidPitchValue,
                       cudaMemcpy2D(device.data(), 16, source.data(), 4, 8, 2, cudaMemcpyHostToDevice));
}
