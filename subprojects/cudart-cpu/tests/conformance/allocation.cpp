// Allocation and freeing of device and pinned memory, and what CUDA says about a pointer.
#include "gate.hpp"
#include "nodes.hpp"

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

cudaPointerAttributes attributes_of(const void* pointer) {
    cudaPointerAttributes attributes{};
    attributes.device = 99;
    REQUIRE_CUDA(cudaPointerGetAttributes(&attributes, pointer));
    return attributes;
}

constexpr std::size_t too_much = std::size_t{1} << 50;

} // namespace

TEST_CASE("device memory is aligned to 256 bytes and may be used to its end", "[memory]") {
    DeviceInts data(1000);
    REQUIRE(reinterpret_cast<std::uintptr_t>(data.data()) % 256 == 0);
    std::vector<int> values(1000);
    for (int i = 0; i < 1000; ++i) {
        values[static_cast<std::size_t>(i)] = i;
    }
    data.write(values);
    REQUIRE(data.read() == values);
}

TEST_CASE("allocating nothing gives a null pointer, which may be freed", "[memory]") {
    auto pointer = untouched<void*>();
    REQUIRE_CUDA(cudaMalloc(&pointer, 0));
    REQUIRE(pointer == nullptr);
    REQUIRE_CUDA(cudaFree(nullptr));

    pointer = untouched<void*>();
    REQUIRE_CUDA(cudaMallocHost(&pointer, 0));
    REQUIRE(pointer == nullptr);
    REQUIRE_CUDA(cudaFreeHost(nullptr));

    Stream stream;
    pointer = untouched<void*>();
    REQUIRE_CUDA(cudaMallocAsync(&pointer, 0, stream));
    REQUIRE(pointer == nullptr);
    REQUIRE_CUDA(cudaFreeAsync(nullptr, stream));
}

TEST_CASE("allocating more than there is fails and nulls the pointer", "[memory]") {
    auto pointer = untouched<void*>();
    REQUIRE_CUDA_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&pointer, too_much));
    REQUIRE(pointer == nullptr);

    Stream stream;
    REQUIRE_CUDA_ERROR(cudaErrorMemoryAllocation, cudaMallocAsync(&pointer, too_much, stream));
}

TEST_CASE("only what cudaMalloc gave can be freed, and only once", "[memory]") {
    char* pointer = nullptr;
    PinnedInts pinned(1);
    int on_stack = 0;
    REQUIRE_CUDA(cudaMalloc(reinterpret_cast<void**>(&pointer), 1024));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(&on_stack));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(pinned.data()));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(pointer + 16));
    REQUIRE_CUDA(cudaFree(pointer));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(pointer));
}

TEST_CASE("freeing device memory waits for all work of the device", "[memory]") {
    Stream stream(cudaStreamNonBlocking);
    void* unrelated = nullptr;
    REQUIRE_CUDA(cudaMalloc(&unrelated, 16));
    Gate gate;
    gate.block(stream);
    std::thread opener([&] {
        gate.wait_until_entered();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        gate.open();
    });
    const cudaError_t code = cudaFree(unrelated);
    const int passed = gate.passed();
    opener.join();
    REQUIRE(code == cudaSuccess);
    REQUIRE(passed == 1);
}

TEST_CASE("allocating does not wait for work of the device", "[memory]") {
    Stream stream(cudaStreamNonBlocking);
    void* pointer = nullptr;
    Gate gate;
    gate.block(stream);
    REQUIRE_CUDA(cudaMalloc(&pointer, 16));
    REQUIRE_NOT_READY(cudaStreamQuery(stream));
    gate.open();
    REQUIRE_CUDA(cudaFree(pointer));
}

TEST_CASE("only what cudaMallocHost gave can be freed with cudaFreeHost, and only once", "[memory]") {
    char* pointer = nullptr;
    DeviceInts device(1);
    int on_stack = 0;
    REQUIRE_CUDA(cudaMallocHost(reinterpret_cast<void**>(&pointer), 1024));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeHost(&on_stack));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeHost(device.data()));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeHost(pointer + 16));
    REQUIRE_CUDA(cudaFreeHost(pointer));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeHost(pointer));
}

TEST_CASE("stream-ordered memory is usable in its stream", "[memory]") {
    Stream stream;
    int* pointer = nullptr;
    PinnedInts result(1);
    REQUIRE_CUDA(cudaMallocAsync(reinterpret_cast<void**>(&pointer), sizeof(int), stream));
    Call set(store, pointer, 0, 7);
    set.launch(stream);
    REQUIRE_CUDA(cudaMemcpyAsync(result.data(), pointer, sizeof(int), cudaMemcpyDeviceToHost, stream));
    REQUIRE_CUDA(cudaFreeAsync(pointer, stream));
    stream.synchronize();
    REQUIRE(result[0] == 7);
}

TEST_CASE("stream-ordered memory is freed once, by either way of freeing", "[memory]") {
    Stream stream;
    char* pointer = nullptr;
    int on_stack = 0;
    REQUIRE_CUDA(cudaMallocAsync(reinterpret_cast<void**>(&pointer), 256, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeAsync(&on_stack, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeAsync(pointer + 16, stream));
    REQUIRE_CUDA(cudaFreeAsync(pointer, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeAsync(pointer, stream));
    stream.synchronize();

    REQUIRE_CUDA(cudaMallocAsync(reinterpret_cast<void**>(&pointer), 256, stream));
    stream.synchronize();
    REQUIRE_CUDA(cudaFree(pointer));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(pointer));
}

TEST_CASE("a pointer says what memory it points to", "[memory]") {
    DeviceInts device(16);
    PinnedInts pinned(16);
    const int pageable = 0;

    for (int* pointer : {device.data(), device.data() + 5}) {
        const cudaPointerAttributes attributes = attributes_of(pointer);
        REQUIRE(attributes.type == cudaMemoryTypeDevice);
        REQUIRE(attributes.device == 0);
        REQUIRE(attributes.devicePointer == pointer);
        REQUIRE(attributes.hostPointer == nullptr);
    }
    for (int* pointer : {pinned.data(), pinned.data() + 5}) {
        const cudaPointerAttributes attributes = attributes_of(pointer);
        REQUIRE(attributes.type == cudaMemoryTypeHost);
        REQUIRE(attributes.device == 0);
        REQUIRE(attributes.devicePointer == pointer);
        REQUIRE(attributes.hostPointer == pointer);
    }
    const cudaPointerAttributes attributes = attributes_of(&pageable);
    REQUIRE(attributes.type == cudaMemoryTypeUnregistered);
    REQUIRE(attributes.device == -2);
    REQUIRE(attributes.devicePointer == nullptr);
    REQUIRE(attributes.hostPointer == &pageable);
    REQUIRE(attributes_of(nullptr).type == cudaMemoryTypeUnregistered);
}

TEST_CASE("pinned memory has its flags, and the same address on the device", "[memory]") {
    int* pointer = nullptr;
    REQUIRE_CUDA(cudaHostAlloc(reinterpret_cast<void**>(&pointer), 64, cudaHostAllocPortable | cudaHostAllocMapped));
    unsigned flags = 0;
    REQUIRE_CUDA(cudaHostGetFlags(&flags, pointer));
    REQUIRE(flags == (cudaHostAllocPortable | cudaHostAllocMapped));
    void* on_device = nullptr;
    REQUIRE_CUDA(cudaHostGetDevicePointer(&on_device, pointer, 0));
    REQUIRE(on_device == pointer);
    REQUIRE_CUDA(cudaFreeHost(pointer));

    int pageable = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaHostGetDevicePointer(&on_device, &pageable, 0));
}

TEST_CASE("a kernel reads and writes pinned memory", "[memory]") {
    Stream stream;
    PinnedInts pinned(1);
    pinned[0] = 1;
    Call plus(add, pinned.data(), 0, 10);
    plus.launch(stream);
    stream.synchronize();
    REQUIRE(pinned[0] == 11);
}

TEST_CASE("not more memory is free than there is", "[memory]") {
    std::size_t free = 0;
    std::size_t total = 0;
    REQUIRE_CUDA(cudaMemGetInfo(&free, &total));
    REQUIRE(free > 0);
    REQUIRE(free <= total);
}

TEST_CASE("bad allocation arguments are refused", "[memory]") {
    Stream stream;
    void* pointer = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMalloc(static_cast<void**>(nullptr), 16));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMallocHost(static_cast<void**>(nullptr), 16));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMallocAsync(static_cast<void**>(nullptr), 16, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaHostAlloc(&pointer, 64, 64));
}
