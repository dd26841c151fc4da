// Small device functions: cached loads, rounding, bits, time.
#pragma once

#include <math.h>

#include <chrono>
#include <thread>

extern "C" __attribute__((visibility("default"), noreturn)) void cudart_cpu_cpp_trap(const char* file, unsigned line);

/// Fails the kernel.
[[noreturn]] inline void __trap(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    cudart_cpu_cpp_trap(file, line);
}

template <class Value>
inline Value __ldg(const Value* address) {
    return *address;
}

// Rounding to the nearest even integer, down, up, towards zero.
inline int __float2int_rn(float x) {
    return static_cast<int>(nearbyintf(x));
}
inline int __float2int_rd(float x) {
    return static_cast<int>(floorf(x));
}
inline int __float2int_ru(float x) {
    return static_cast<int>(ceilf(x));
}
inline int __float2int_rz(float x) {
    return static_cast<int>(x);
}
inline unsigned __float2uint_rn(float x) {
    return static_cast<unsigned>(nearbyintf(x));
}
inline unsigned __float2uint_rz(float x) {
    return static_cast<unsigned>(x);
}
inline float __int2float_rn(int x) {
    return static_cast<float>(x);
}
inline float __uint2float_rn(unsigned x) {
    return static_cast<float>(x);
}

// Reinterpretation of the same bits as another type.
inline int __float_as_int(float x) {
    return __builtin_bit_cast(int, x);
}
inline float __int_as_float(int x) {
    return __builtin_bit_cast(float, x);
}
inline unsigned __float_as_uint(float x) {
    return __builtin_bit_cast(unsigned, x);
}
inline float __uint_as_float(unsigned x) {
    return __builtin_bit_cast(float, x);
}

inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}
inline int __clz(int x) {
    return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) {
    return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
    return __builtin_ffsll(x);
}

/// A clock with one cycle per nanosecond.
inline long long clock64() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}
inline void __nanosleep(unsigned ns) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
}

// All fences write one location, so they are ordered. Thread sanitizer understands that, unlike a fence.
inline void __threadfence() {
    static int order = 0;
    __atomic_fetch_add(&order, 1, __ATOMIC_SEQ_CST);
}
inline void __threadfence_block() {
    __threadfence();
}
inline void __threadfence_system() {
    __threadfence();
}
