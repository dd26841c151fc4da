// Poisoning, live counts, the size of memory, copies of boxes, what is no symbol.
#include "check.hpp"
#include "gate.hpp"

#include <cudart_cpu/control.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

namespace {

constexpr std::size_t bytes = 1000;

template <class T = unsigned char>
T* device_alloc(std::size_t n = bytes) {
    void* pointer = nullptr;
    CHECK_OK(cudaMalloc(&pointer, n));
    return static_cast<T*>(pointer);
}

bool all_bytes(const unsigned char* memory, std::size_t n, unsigned char value) {
    return std::all_of(memory, memory + n, [=](unsigned char byte) { return byte == value; });
}

void fresh_memory_is_poisoned() {
    unsigned char* device = device_alloc();
    CHECK(all_bytes(device, bytes, 0xCD));
    CHECK(reinterpret_cast<std::uintptr_t>(device) % 256 == 0);
    std::vector<unsigned char> host(bytes, 0);
    CHECK_OK(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
    CHECK(all_bytes(host.data(), bytes, 0xCD));
    CHECK_OK(cudaFree(device));
}

void counts_follow_every_kind_of_allocation() {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    void* device = device_alloc();
    void* ordered = nullptr;
    CHECK_OK(cudaMallocAsync(&ordered, bytes, nullptr));
    void* managed = nullptr;
    CHECK_OK(cudaMallocManaged(&managed, bytes, cudaMemAttachGlobal));
    void* host = nullptr;
    CHECK_OK(cudaMallocHost(&host, bytes));
    void* mapped = nullptr;
    CHECK_OK(cudaHostAlloc(&mapped, bytes, cudaHostAllocMapped));
    CHECK(cudart_cpu::live().device_allocations == before.device_allocations + 3);
    CHECK(cudart_cpu::live().host_allocations == before.host_allocations + 2);
    CHECK_OK(cudaFree(device));
    CHECK_OK(cudaFreeAsync(ordered, nullptr));
    CHECK_OK(cudaFree(managed));
    CHECK_OK(cudaFreeHost(host));
    CHECK_OK(cudaFreeHost(mapped));
    CHECK(cudart_cpu::live() == before);
    std::size_t free = 0;
    std::size_t total = 0;
    CHECK_OK(cudaMemGetInfo(&free, &total));
    CHECK(free == total);
}

void more_memory_than_there_is_is_refused() {
    void* pointer = nullptr;
    CHECK_CODE(cudaErrorMemoryAllocation, cudaMalloc(&pointer, std::numeric_limits<std::size_t>::max() / 2));
    CHECK(pointer == nullptr);
}

void a_stream_ordered_free_waits_for_its_stream() {
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));
    void* ordered = nullptr;
    CHECK_OK(cudaMallocAsync(&ordered, bytes, stream));
    Gate gate;
    gate.close(stream);
    CHECK_OK(cudaFreeAsync(ordered, stream));
    CHECK(all_bytes(static_cast<unsigned char*>(ordered), bytes, 0xCD));
    gate.open();
    CHECK_OK(cudaStreamSynchronize(stream));
    CHECK_OK(cudaStreamDestroy(stream));
}

void copies_in_two_and_three_dimensions_touch_only_their_box() {
    constexpr std::size_t pitch = 8;
    constexpr std::size_t rows = 4;
    unsigned char* device = device_alloc(2 * rows * pitch);
    std::vector<unsigned char> host(2 * rows * pitch);
    for (std::size_t i = 0; i < host.size(); ++i) {
        host[i] = static_cast<unsigned char>(i);
    }
    cudaMemcpy3DParms box{};
    box.srcPtr = {host.data(), pitch, pitch, rows};
    box.dstPtr = {device, pitch, pitch, rows};
    box.srcPos = {1, 1, 0};
    box.dstPos = {2, 1, 0};
    box.extent = {3, 2, 2};
    box.kind = cudaMemcpyHostToDevice;
    CHECK_OK(cudaMemcpy3D(&box));
    for (std::size_t i = 0; i < host.size(); ++i) {
        const std::size_t x = i % pitch;
        const std::size_t y = i / pitch % rows;
        const bool inside = x >= 2 && x < 5 && y >= 1 && y < 3;
        CHECK(device[i] == (inside ? i - 1 : 0xCD));
    }
    CHECK_OK(cudaMemset2D(device + 1, pitch, 5, 2, rows));
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(device[0] == 0xCD && device[1] == 5 && device[2] == 5 && device[3 * pitch + 2] == 5);
    CHECK(device[4 * pitch + 1] == 0xCD);
    CHECK_OK(cudaFree(device));
}

// Not all of these are for the conformance suite: a GPU's runtime may crash.
void what_is_no_variable_of_the_program_is_no_symbol() {
    void* address = nullptr;
    std::size_t size = 0;
    for (const void* nothing : {static_cast<const void*>(nullptr), static_cast<const void*>(&size),
                                reinterpret_cast<const void*>(&device_alloc<int>)}) {
        CHECK_CODE(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, nothing));
        CHECK_CODE(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, nothing));
        CHECK_CODE(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(nothing, &size, 4, 0, cudaMemcpyHostToDevice));
        CHECK_CODE(cudaErrorInvalidSymbol, cudaMemcpyFromSymbol(&size, nothing, 4, 0, cudaMemcpyDeviceToHost));
    }
}

/// New memory may be where it was: it is CUDA's then.
void a_registration_of_memory_that_was_freed_is_forgotten() {
    constexpr std::size_t size = 1 << 20;
    for (int i = 0; i < 4; ++i) {
        void* const own = std::malloc(size);
        CHECK_OK(cudaHostRegister(own, size, 0));
        const volatile auto address = reinterpret_cast<std::uintptr_t>(own); // the compiler forgets whose it was
        std::free(own);
        void* pinned = nullptr;
        void* device = nullptr;
        CHECK_OK(cudaMallocHost(&pinned, size + 4096));
        CHECK_OK(cudaMalloc(&device, size));
        CHECK_OK(cudaMemcpy(device, pinned, size, cudaMemcpyHostToDevice));
        CHECK_CODE(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(pinned));
        CHECK_OK(cudaFree(device));
        CHECK_OK(cudaFreeHost(pinned));
        if (cudaHostUnregister(reinterpret_cast<void*>(address)) != cudaSuccess) static_cast<void>(cudaGetLastError());
    }
}

} // namespace

int main() {
    fresh_memory_is_poisoned();
    counts_follow_every_kind_of_allocation();
    more_memory_than_there_is_is_refused();
    a_stream_ordered_free_waits_for_its_stream();
    copies_in_two_and_three_dimensions_touch_only_their_box();
    what_is_no_variable_of_the_program_is_no_symbol();
    a_registration_of_memory_that_was_freed_is_forgotten();
}
