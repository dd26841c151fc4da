// CUDA's atomics: truly atomic, since unordered nodes and streams run at the same time. Relaxed, as on a device.
#pragma once

#include <type_traits>

namespace cudart_cpu::detail {

template <class Value, class... Allowed>
inline constexpr bool is_one_of = (std::is_same_v<Value, Allowed> || ...);

template <class Value>
inline constexpr bool is_integer = is_one_of<Value, int, unsigned, unsigned long long>;

template <class Value>
inline constexpr bool is_signed_too = is_integer<Value> || is_one_of<Value, long long>;

/// Stops deduction: the address alone decides the type, as in CUDA's overloads.
template <class Value>
using Same = std::type_identity_t<Value>;

/// Applies `change` to the value; returns the old one.
template <class Value, class Change>
inline Value atomic_update(Value* address, Change change) {
    Value old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    Value next = change(old);
    while (!__atomic_compare_exchange(address, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        next = change(old);
    }
    return old;
}

} // namespace cudart_cpu::detail

template <class Value>
inline Value atomicAdd(Value* address, cudart_cpu::detail::Same<Value> value) {
    using namespace cudart_cpu::detail;
    static_assert(is_integer<Value> || is_one_of<Value, float, double>,
                  "cudart-cpu: atomicAdd has no overload for this type");
    if constexpr (is_integer<Value>) {
        return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
    } else {
        return atomic_update(address, [value](Value old) { return old + value; });
    }
}

template <class Value>
inline Value atomicSub(Value* address, cudart_cpu::detail::Same<Value> value) {
    static_assert(cudart_cpu::detail::is_one_of<Value, int, unsigned>,
                  "cudart-cpu: atomicSub has no overload for this type");
    return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}

template <class Value>
inline Value atomicMax(Value* address, cudart_cpu::detail::Same<Value> value) {
    static_assert(cudart_cpu::detail::is_signed_too<Value>, "cudart-cpu: atomicMax has no overload for this type");
    return cudart_cpu::detail::atomic_update(address, [value](Value old) { return old < value ? value : old; });
}

template <class Value>
inline Value atomicMin(Value* address, cudart_cpu::detail::Same<Value> value) {
    static_assert(cudart_cpu::detail::is_signed_too<Value>, "cudart-cpu: atomicMin has no overload for this type");
    return cudart_cpu::detail::atomic_update(address, [value](Value old) { return value < old ? value : old; });
}

template <class Value>
inline Value atomicExch(Value* address, cudart_cpu::detail::Same<Value> value) {
    static_assert(cudart_cpu::detail::is_integer<Value> || std::is_same_v<Value, float>,
                  "cudart-cpu: atomicExch has no overload for this type");
    Value old;
    __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
    return old;
}

template <class Value>
inline Value atomicCAS(Value* address, cudart_cpu::detail::Same<Value> expected,
                       cudart_cpu::detail::Same<Value> desired) {
    static_assert(cudart_cpu::detail::is_integer<Value> || std::is_same_v<Value, unsigned short>,
                  "cudart-cpu: atomicCAS has no overload for this type");
    __atomic_compare_exchange(address, &expected, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

template <class Value>
inline Value atomicAnd(Value* address, cudart_cpu::detail::Same<Value> value) {
    static_assert(cudart_cpu::detail::is_integer<Value>, "cudart-cpu: atomicAnd has no overload for this type");
    return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
}

template <class Value>
inline Value atomicOr(Value* address, cudart_cpu::detail::Same<Value> value) {
    static_assert(cudart_cpu::detail::is_integer<Value>, "cudart-cpu: atomicOr has no overload for this type");
    return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}

template <class Value>
inline Value atomicXor(Value* address, cudart_cpu::detail::Same<Value> value) {
    static_assert(cudart_cpu::detail::is_integer<Value>, "cudart-cpu: atomicXor has no overload for this type");
    return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}
