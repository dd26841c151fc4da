// The CPU runtime draws orders, fails on purpose, and counts what is alive.
#include "runtime.hpp"

#include "inject.hpp"
#include "report.hpp"

#include <cudag/buffer.hpp>
#include <cudart_cpu/control.hpp>

#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

namespace {

std::uint64_t calls_before = 0;
std::uint64_t armed_call = 0;

thread_local std::uint64_t allocations_left = 0;
thread_local bool allocation_failed = false;

void count_allocation() {
    if (allocations_left == 0 || --allocations_left != 0) return;
    allocation_failed = true;
    throw std::bad_alloc();
}

void* allocate(std::size_t size) {
    count_allocation();
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
void* allocate(std::size_t size, std::align_val_t alignment) {
    count_allocation();
    const auto align = static_cast<std::size_t>(alignment);
    if (void* const memory = std::aligned_alloc(align, (size + align - 1) / align * align)) return memory;
    throw std::bad_alloc();
}

/// What launches have finished with is freed by the next call that allocates.
void reclaim() {
    const cudag::DeviceBuffer<char> reclaims(1);
}

} // namespace

// NOLINTBEGIN: all of them, so that none is left out of the count
void* operator new(std::size_t size) {
    return allocate(size);
}
void* operator new[](std::size_t size) {
    return allocate(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return allocate(size, alignment);
}
// Who asks for these does without: std::stable_sort. They belong to the same family of functions all the same.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return std::malloc(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return std::malloc(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
// NOLINTEND

void schedule(std::uint64_t seed) {
    cudart_cpu::set_seed(seed);
    cudart_cpu::set_workers(static_cast<unsigned>(seed % 4));
}

LeakCheck::LeakCheck() {
    reclaim();
    const cudart_cpu::LiveCounts live = cudart_cpu::live();
    const std::size_t counts[8] = {live.streams, live.events,      live.device_allocations, live.host_allocations,
                                   live.graphs,  live.graph_execs, live.user_objects,       live.external_semaphores};
    for (int i = 0; i < 8; ++i)
        start_[i] = counts[i];
}

void LeakCheck::require_nothing_left(bool final) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(final ? 20 : 10);
    for (;;) {
        const LeakCheck now;
        constexpr const char* names[] = {"streams", "events",      "device allocations", "host allocations",
                                         "graphs",  "graph execs", "user objects",       "external semaphores"};
        int more = -1;
        for (int i = 0; i < 8; ++i)
            if (now.start_[i] > start_[i]) more = i;
        if (more < 0) return;
        if (std::chrono::steady_clock::now() > deadline)
            wrong("{} {} are left, {} more than there were", now.start_[more], names[more],
                  now.start_[more] - start_[more]);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

bool can_fail() {
    return true;
}

void arm(Faults faults, std::uint64_t n) {
    if (faults == Faults::calls) {
        calls_before = cudart_cpu::call_count();
        armed_call = n;
        cudart_cpu::fail_call(n, injected_code);
    } else if (faults == Faults::allocations) {
        allocation_failed = false;
        allocations_left = n;
    }
}

bool disarm(Faults faults) {
    if (faults == Faults::calls) {
        if (armed_call == 0) return false;
        cudart_cpu::fail_call(0, cudaSuccess);
        const bool reached = cudart_cpu::call_count() - calls_before >= armed_call;
        armed_call = 0;
        return reached;
    }
    allocations_left = 0;
    return std::exchange(allocation_failed, false);
}
