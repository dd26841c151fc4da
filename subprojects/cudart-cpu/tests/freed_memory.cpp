// What a destroyed stream did to memory comes before what cudaFree() does to it, whatever its thread is at by then.
// Only ThreadSanitizer can see that.
#include "check.hpp"
#include "gate.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

namespace {

/// Deallocations of the stream's thread since its work. Relaxed, as all of these: they order nothing.
std::atomic<int> deallocations = 0;
std::atomic<bool> freed = false;
thread_local bool is_slow = false;

/// Time for the main thread to free memory meanwhile; bounded, as cudaFree() may well have to wait for this thread.
void linger() {
    deallocations.fetch_add(1, std::memory_order_relaxed);
    for (int i = 0; i < 20 && !freed.load(std::memory_order_relaxed); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

/// Frees the memory after so many deallocations of the thread, or after its end.
void free_after(int count) {
    void* cell = nullptr;
    CHECK_OK(cudaMalloc(&cell, sizeof(int)));
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));
    deallocations.store(0, std::memory_order_relaxed);
    freed.store(false, std::memory_order_relaxed);
    Gate gate;
    gate.close(stream);
    CHECK_OK(cudaLaunchHostFunc(
        stream,
        [](void* c) {
            *static_cast<int*>(c) = 1;
            is_slow = true;
        },
        cell));
    CHECK_OK(cudaStreamDestroy(stream));
    gate.open();
    for (int i = 0; i < 100 && deallocations.load(std::memory_order_relaxed) < count; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK_OK(cudaFree(cell));
    freed.store(true, std::memory_order_relaxed);
}

} // namespace

void* operator new(std::size_t bytes) {
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

void operator delete(void* memory) noexcept {
    std::free(memory);
    if (is_slow) {
        linger();
    }
}

void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}

int main() {
    for (int count = 1; count <= 5; ++count)
        free_after(count);
}
