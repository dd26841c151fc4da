// CUDA's atomics: truly atomic, since unordered nodes and streams run at the same time. Relaxed, as on a device.
#pragma once

#include <type_traits>

namespace cudart_cpu::detail {

template <class T, class... Allowed>
inline constexpr bool is_one_of = (std::is_same_v<T, Allowed> || ...);

template <class T>
inline constexpr bool is_integer = is_one_of<T, int, unsigned, unsigned long long>;

template <class T>
inline constexpr bool is_signed_too = is_integer<T> || is_one_of<T, long long>;

/// Stops deduction, so that the address alone decides the type, as in CUDA's overloads.
template <class T>
using Value = std::type_identity_t<T>;

/// Replaces the value by `change` of it; returns the old one.
template <class T, class Change>
inline T atomic_update(T* address, Change change) {
    T old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    T next = change(old);
    while (!__atomic_compare_exchange(address, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        next = change(old);
    }
    return old;
}

} // namespace cudart_cpu::detail

template <class T>
inline T atomicAdd(T* address, cudart_cpu::detail::Value<T> value) {
    using namespace cudart_cpu::detail;
    static_assert(is_integer<T> || is_one_of<T, float, double>, "cudart-cpu: atomicAdd has no overload for this type");
    if constexpr (is_integer<T>) {
        return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
    } else {
        return atomic_update(address, [value](T old) { return old + value; });
    }
}

template <class T>
inline T atomicSub(T* address, cudart_cpu::detail::Value<T> value) {
    static_assert(cudart_cpu::detail::is_one_of<T, int, unsigned>,
                  "cudart-cpu: atomicSub has no overload for this type");
    return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}

template <class T>
inline T atomicMax(T* address, cudart_cpu::detail::Value<T> value) {
    static_assert(cudart_cpu::detail::is_signed_too<T>, "cudart-cpu: atomicMax has no overload for this type");
    return cudart_cpu::detail::atomic_update(address, [value](T old) { return old < value ? value : old; });
}

template <class T>
inline T atomicMin(T* address, cudart_cpu::detail::Value<T> value) {
    static_assert(cudart_cpu::detail::is_signed_too<T>, "cudart-cpu: atomicMin has no overload for this type");
    return cudart_cpu::detail::atomic_update(address, [value](T old) { return value < old ? value : old; });
}

template <class T>
inline T atomicExch(T* address, cudart_cpu::detail::Value<T> value) {
    static_assert(cudart_cpu::detail::is_integer<T> || std::is_same_v<T, float>,
                  "cudart-cpu: atomicExch has no overload for this type");
    T old;
    __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
    return old;
}

template <class T>
inline T atomicCAS(T* address, cudart_cpu::detail::Value<T> expected, cudart_cpu::detail::Value<T> desired) {
    static_assert(cudart_cpu::detail::is_integer<T> || std::is_same_v<T, unsigned short>,
                  "cudart-cpu: atomicCAS has no overload for this type");
    __atomic_compare_exchange(address, &expected, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

template <class T>
inline T atomicAnd(T* address, cudart_cpu::detail::Value<T> value) {
    static_assert(cudart_cpu::detail::is_integer<T>, "cudart-cpu: atomicAnd has no overload for this type");
    return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
}

template <class T>
inline T atomicOr(T* address, cudart_cpu::detail::Value<T> value) {
    static_assert(cudart_cpu::detail::is_integer<T>, "cudart-cpu: atomicOr has no overload for this type");
    return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}

template <class T>
inline T atomicXor(T* address, cudart_cpu::detail::Value<T> value) {
    static_assert(cudart_cpu::detail::is_integer<T>, "cudart-cpu: atomicXor has no overload for this type");
    return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}
