// Events: recording, waiting, timing.
#include "gate.hpp"
#include "nodes.hpp"

#include <vector>

TEST_CASE("an event that was never recorded counts as complete", "[events]") {
    Event event;
    Stream stream;
    REQUIRE_CUDA(cudaEventQuery(event));
    REQUIRE_CUDA(cudaEventSynchronize(event));
    REQUIRE_CUDA(cudaStreamWaitEvent(stream, event, 0));
    stream.synchronize();
}

TEST_CASE("an event is complete once the work before it is", "[events]") {
    Stream stream;
    Event event;
    Gate gate;
    gate.block(stream);
    REQUIRE_CUDA(cudaEventRecord(event, stream));
    REQUIRE_NOT_READY(cudaEventQuery(event));
    gate.open();
    REQUIRE_CUDA(cudaEventSynchronize(event));
    REQUIRE_CUDA(cudaEventQuery(event));
    REQUIRE(gate.passed() == 1);
}

TEST_CASE("a stream waits for an event of another stream", "[events]") {
    Stream first(cudaStreamNonBlocking);
    Stream second(cudaStreamNonBlocking);
    Event event;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Gate gate;
    gate.block(first);
    set.launch(first);
    REQUIRE_CUDA(cudaEventRecord(event, first));
    REQUIRE_CUDA(cudaStreamWaitEvent(second, event, 0));
    plus.launch(second);
    REQUIRE_NOT_READY(cudaStreamQuery(second));
    gate.open();
    second.synchronize();
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("a wait is for the record before it, not for a later one", "[events]") {
    Stream first(cudaStreamNonBlocking);
    Stream second(cudaStreamNonBlocking);
    Event event;
    REQUIRE_CUDA(cudaEventRecord(event, first));
    first.synchronize();
    Gate gate;
    gate.block(first);
    REQUIRE_CUDA(cudaStreamWaitEvent(second, event, 0));
    REQUIRE_CUDA(cudaEventRecord(event, first));
    second.synchronize();
    REQUIRE_NOT_READY(cudaEventQuery(event));
}

TEST_CASE("an event may be destroyed while a stream waits for it", "[events]") {
    Stream first(cudaStreamNonBlocking);
    Stream second(cudaStreamNonBlocking);
    Gate gate;
    gate.block(first);
    cudaEvent_t event = nullptr;
    REQUIRE_CUDA(cudaEventCreate(&event));
    REQUIRE_CUDA(cudaEventRecord(event, first));
    REQUIRE_CUDA(cudaStreamWaitEvent(second, event, 0));
    REQUIRE_CUDA(cudaEventDestroy(event));
    REQUIRE_NOT_READY(cudaStreamQuery(second));
    gate.open();
    second.synchronize();
    REQUIRE(gate.passed() == 1);
}

TEST_CASE("the time between two events has a sign", "[events]") {
    Stream stream;
    Event start;
    Event stop;
    REQUIRE_CUDA(cudaEventRecord(start, stream));
    Gate gate;
    gate.block(stream);
    gate.open();
    REQUIRE_CUDA(cudaEventRecord(stop, stream));
    stream.synchronize();
    float forth = -1;
    float back = -1;
    float self = -1;
    REQUIRE_CUDA(cudaEventElapsedTime(&forth, start, stop));
    REQUIRE_CUDA(cudaEventElapsedTime(&back, stop, start));
    REQUIRE_CUDA(cudaEventElapsedTime(&self, start, start));
    REQUIRE(forth > 0);
    REQUIRE(back == -forth);
    REQUIRE(self == 0);
}

TEST_CASE("time needs two recorded, finished events that keep time", "[events]") {
    Stream stream;
    Event first;
    Event second;
    Event untimed(cudaEventDisableTiming);
    float milliseconds = -1;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, first, second));
    REQUIRE_CUDA(cudaEventRecord(first, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, first, second));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, second, first));
    REQUIRE_CUDA(cudaEventRecord(untimed, stream));
    stream.synchronize();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, first, untimed));

    Gate gate;
    gate.block(stream);
    REQUIRE_CUDA(cudaEventRecord(second, stream));
    REQUIRE_NOT_READY(cudaEventElapsedTime(&milliseconds, first, second));
    REQUIRE(milliseconds == -1);
}

TEST_CASE("bad event arguments are refused", "[events]") {
    Stream stream;
    Event event;
    cudaEvent_t made = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaEventCreateWithFlags(&made, 64));
    // An interprocess event cannot keep time.
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaEventCreateWithFlags(&made, cudaEventInterprocess));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaEventCreate(nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamWaitEvent(stream, event, 9));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaEventRecordWithFlags(event, stream, 8));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaEventElapsedTime(nullptr, event, event));

    float milliseconds = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventQuery(nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(nullptr, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventSynchronize(nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventDestroy(nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(stream, nullptr, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, nullptr, event));
}
