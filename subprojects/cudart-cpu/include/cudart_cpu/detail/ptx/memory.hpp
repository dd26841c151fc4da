// Loads, stores, atomics and copies.
#pragma once

#include "half.hpp"
#include "integer.hpp"

namespace cudart_cpu::ptx {

inline constexpr u32 patience = 256;

/// Before an access that a spinning loop may consist of.
inline void spin(Thread& t) {
    if (--t.patience == 0) [[unlikely]]
        cudart_cpu_yield(t);
}

/// Does nothing unless the runtime checks accesses.
inline u64 checked(Thread& t, u64 at, u32 bytes, Access access, u32 location) {
    if (t.block->checks != 0) [[unlikely]]
        cudart_cpu_check(t, at, bytes, access, location);
    return at;
}

/// A thread of a block without checks.
struct Unchecked : Thread {};

inline u64 checked(Unchecked&, u64 at, u32, Access, u32) {
    return at;
}

template <class T>
inline T load(u64 from) {
    return *reinterpret_cast<const T*>(from);
}
template <class T>
inline void store(u64 to, T value) {
    *reinterpret_cast<T*>(to) = value;
}
template <class T>
inline T load_strong(Thread& t, u64 from) {
    spin(t);
    return __builtin_bit_cast(T, __atomic_load_n(reinterpret_cast<const Bits<T>*>(from), __ATOMIC_ACQUIRE));
}
template <class T>
inline void store_strong(Thread&, u64 to, T value) {
    __atomic_store_n(reinterpret_cast<Bits<T>*>(to), bits(value), __ATOMIC_RELEASE);
}

inline void fence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/// Shared memory is its block's alone, and the threads of a block take turns.
template <bool Shared, class T, class F>
inline T update(Thread& t, u64 at, F next) {
    spin(t);
    using B = Bits<T>;
    auto* const place = reinterpret_cast<B*>(at);
    if constexpr (Shared) {
        const T old = __builtin_bit_cast(T, *place);
        *place = bits(static_cast<T>(next(old)));
        return old;
    } else {
        B seen = __atomic_load_n(place, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(place, &seen, bits(static_cast<T>(next(__builtin_bit_cast(T, seen)))), true,
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        }
        return __builtin_bit_cast(T, seen);
    }
}
template <bool Shared, class T>
inline T atom_add(Thread& t, u64 at, T value) {
    if constexpr (!Shared && std::is_integral_v<T>) {
        spin(t);
        return __atomic_fetch_add(reinterpret_cast<T*>(at), value, __ATOMIC_SEQ_CST);
    } else {
        return update<Shared, T>(t, at, [=](T old) {
            if constexpr (std::is_integral_v<T>)
                return add(old, value);
            else
                return old + value;
        });
    }
}
template <bool Shared, class T>
inline T atom_exch(Thread& t, u64 at, T value) {
    return update<Shared, T>(t, at, [=](T) { return value; });
}
template <bool Shared, class T>
inline T atom_cas(Thread& t, u64 at, T expected, T value) {
    return update<Shared, T>(t, at, [=](T old) { return old == expected ? value : old; });
}
template <bool Shared, class T>
inline T atom_and(Thread& t, u64 at, T value) {
    return update<Shared, T>(t, at, [=](T old) { return static_cast<T>(old & value); });
}
template <bool Shared, class T>
inline T atom_or(Thread& t, u64 at, T value) {
    return update<Shared, T>(t, at, [=](T old) { return static_cast<T>(old | value); });
}
template <bool Shared, class T>
inline T atom_xor(Thread& t, u64 at, T value) {
    return update<Shared, T>(t, at, [=](T old) { return static_cast<T>(old ^ value); });
}
template <bool Shared, class T>
inline T atom_min(Thread& t, u64 at, T value) {
    return update<Shared, T>(t, at, [=](T old) { return value < old ? value : old; });
}
template <bool Shared, class T>
inline T atom_max(Thread& t, u64 at, T value) {
    return update<Shared, T>(t, at, [=](T old) { return old < value ? value : old; });
}
template <bool Shared, class T>
inline T atom_inc(Thread& t, u64 at, T limit) {
    return update<Shared, T>(t, at, [=](T old) { return old >= limit ? T{0} : static_cast<T>(old + 1); });
}
template <bool Shared, class T>
inline T atom_dec(Thread& t, u64 at, T limit) {
    return update<Shared, T>(t, at, [=](T old) { return old == 0 || old > limit ? limit : static_cast<T>(old - 1); });
}
template <bool Shared, class H>
inline H atom_half_add(Thread& t, u64 at, H value) {
    return update<Shared, H>(t, at, [=](H old) { return hadd(old, value); });
}
template <bool Shared, class P>
inline P atom_pair_add(Thread& t, u64 at, P value) {
    return update<Shared, P>(t, at,
                             [=](P old) { return pairwise<P>([](auto a, auto b) { return hadd(a, b); }, old, value); });
}

inline void copy(u64 to, u64 from, u32 bytes, u32 valid) {
    auto* const out = reinterpret_cast<unsigned char*>(to);
    const auto* const in = reinterpret_cast<const unsigned char*>(from);
    for (u32 i = 0; i < bytes; ++i)
        out[i] = i < valid ? in[i] : 0;
}

} // namespace cudart_cpu::ptx
