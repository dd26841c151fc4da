// Streams: creation, order, queries, destruction with work pending.
#include "gate.hpp"
#include "nodes.hpp"

#include <future>
#include <set>
#include <vector>

TEST_CASE("work in one stream runs in order", "[streams]") {
    Stream stream;
    DeviceInts data(1);
    data.write({1});
    Call plus(add, data.data(), 0, 1);
    Call set(store, data.data(), 0, 10);
    PinnedInts result(1);
    plus.launch(stream);
    set.launch(stream);
    plus.launch(stream);
    REQUIRE_CUDA(cudaMemcpyAsync(result.data(), data.data(), sizeof(int), cudaMemcpyDeviceToHost, stream));
    stream.synchronize();
    REQUIRE(result[0] == 11);
}

TEST_CASE("a call returns before its work runs", "[streams]") {
    Stream stream;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 10);
    Gate gate;
    gate.block(stream);
    set.launch(stream);
    REQUIRE_NOT_READY(cudaStreamQuery(stream));
    REQUIRE(gate.passed() == 0);
    gate.open();
    stream.synchronize();
    REQUIRE_CUDA(cudaStreamQuery(stream));
    REQUIRE(data.read() == std::vector{10});
}

TEST_CASE("non-blocking streams do not wait for each other", "[streams][concurrent]") {
    Stream held(cudaStreamNonBlocking);
    Stream free(cudaStreamNonBlocking);
    DeviceInts data(1);
    Call set(store, data.data(), 0, 10);
    Gate gate;
    gate.block(held);
    set.launch(free);
    free.synchronize();
    REQUIRE_NOT_READY(cudaStreamQuery(held));
}

TEST_CASE("a stream destroyed with work pending finishes it", "[streams]") {
    DeviceInts data(1);
    Call set(store, data.data(), 0, 10);
    cudaStream_t stream = nullptr;
    REQUIRE_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    Gate gate;
    gate.block(stream);
    set.launch(stream);
    REQUIRE_CUDA(cudaStreamDestroy(stream));
    REQUIRE(gate.passed() == 0);
    gate.open();
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(gate.passed() == 1);
    REQUIRE(data.read() == std::vector{10});
}

TEST_CASE("the device is synchronised once every stream is done", "[streams]") {
    Stream one;
    Stream two(cudaStreamNonBlocking);
    DeviceInts data(2);
    Call first(store, data.data(), 0, 1);
    Call second(store, data.data(), 1, 2);
    first.launch(one);
    second.launch(two);
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE_CUDA(cudaStreamQuery(one));
    REQUIRE_CUDA(cudaStreamQuery(two));
    REQUIRE(data.read() == std::vector{1, 2});
}

TEST_CASE("streams know their flags, priority and device", "[streams]") {
    Stream blocking;
    Stream independent(cudaStreamNonBlocking);
    unsigned flags = 99;
    REQUIRE_CUDA(cudaStreamGetFlags(blocking, &flags));
    REQUIRE(flags == cudaStreamDefault);
    REQUIRE_CUDA(cudaStreamGetFlags(independent, &flags));
    REQUIRE(flags == cudaStreamNonBlocking);
    REQUIRE_CUDA(cudaStreamGetFlags(nullptr, &flags));
    REQUIRE(flags == cudaStreamDefault);

    int priority = 99;
    REQUIRE_CUDA(cudaStreamGetPriority(blocking, &priority));
    REQUIRE(priority == 0);
    int device = 99;
    REQUIRE_CUDA(cudaStreamGetDevice(blocking, &device));
    REQUIRE(device == 0);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
    REQUIRE_CUDA(cudaStreamIsCapturing(blocking, &status));
    REQUIRE(status == cudaStreamCaptureStatusNone);
}

TEST_CASE("stream priorities go from 0 to -5 and are clamped", "[streams]") {
    int least = 99;
    int greatest = 99;
    REQUIRE_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    REQUIRE(least == 0);
    REQUIRE(greatest == -5);
    const auto priority_given = [](int wanted) {
        cudaStream_t stream = nullptr;
        int priority = 99;
        REQUIRE_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, wanted));
        REQUIRE_CUDA(cudaStreamGetPriority(stream, &priority));
        REQUIRE_CUDA(cudaStreamDestroy(stream));
        return priority;
    };
    REQUIRE(priority_given(-3) == -3);
    REQUIRE(priority_given(-99) == -5);
    REQUIRE(priority_given(5) == 0);
}

TEST_CASE("the default streams cannot be destroyed", "[streams]") {
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaStreamDestroy(nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaStreamDestroy(cudaStreamLegacy));
}

TEST_CASE("bad stream arguments are refused", "[streams]") {
    cudaStream_t stream = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 7));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
    REQUIRE(stream == nullptr);
}

TEST_CASE("streams have identities", "[streams]") {
    Stream one;
    Stream two;
    unsigned long long first = 0;
    unsigned long long second = 0;
    unsigned long long again = 0;
    REQUIRE_CUDA(cudaStreamGetId(one, &first));
    REQUIRE_CUDA(cudaStreamGetId(two, &second));
    REQUIRE_CUDA(cudaStreamGetId(one, &again));
    REQUIRE(first != second);
    REQUIRE(first == again);
}

TEST_CASE("the null stream is the legacy stream, and each thread has a stream of its own", "[streams]") {
    const auto id_of = [](cudaStream_t stream) {
        unsigned long long id = 0;
        REQUIRE_CUDA(cudaStreamGetId(stream, &id));
        return id;
    };
    REQUIRE(id_of(nullptr) == id_of(cudaStreamLegacy));
    const unsigned long long here = id_of(cudaStreamPerThread);
    REQUIRE(here != id_of(nullptr));
    REQUIRE(std::async(std::launch::async, id_of, cudaStreamPerThread).get() != here);
}

TEST_CASE("a new stream has a new identity, also where it has an earlier one's handle", "[streams]") {
    std::set<unsigned long long> ids;
    for (int i = 0; i < 10; ++i) {
        Stream stream;
        unsigned long long id = 0;
        REQUIRE_CUDA(cudaStreamGetId(stream, &id));
        REQUIRE(ids.insert(id).second);
    }
}

TEST_CASE("a thread captures in global mode until it chooses another", "[streams]") {
    auto first = cudaStreamCaptureModeThreadLocal;
    auto second = cudaStreamCaptureModeRelaxed;
    REQUIRE_CUDA(cudaThreadExchangeStreamCaptureMode(&first));
    REQUIRE(first == cudaStreamCaptureModeGlobal);
    REQUIRE_CUDA(cudaThreadExchangeStreamCaptureMode(&second));
    REQUIRE(second == cudaStreamCaptureModeThreadLocal);
    REQUIRE_CUDA(cudaThreadExchangeStreamCaptureMode(&first));
    REQUIRE(first == cudaStreamCaptureModeRelaxed);
}
