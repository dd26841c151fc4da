// An operator new that counts, and fails when it is told to, for the whole program and its libraries.
#include "allocated_bytes.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> held = 0;
thread_local std::size_t until_failure = 0; // 0 for none

} // namespace

std::size_t allocated_bytes() noexcept {
    return held;
}

bool fail_allocation(std::size_t n) noexcept {
    const bool is_armed = until_failure != 0;
    until_failure = n;
    return is_armed;
}

void* operator new(std::size_t size) {
    void* const memory = operator new(size, std::nothrow);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    if (until_failure != 0 && --until_failure == 0) return nullptr;
    void* const memory = std::malloc(size == 0 ? 1 : size);
    if (memory != nullptr) held += malloc_usable_size(memory);
    return memory;
}

void operator delete(void* memory) noexcept {
    held -= malloc_usable_size(memory);
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}

void operator delete(void* memory, const std::nothrow_t&) noexcept {
    operator delete(memory);
}
