// Loads, stores, atomics and copies.
#pragma once

#include "half.hpp"
#include "integer.hpp"

namespace cudart_cpu::ptx {

inline constexpr u32 patience = 256;

/// Precedes each access that may belong to a spinning loop; yields when the thread's patience runs out.
inline void spin(Thread& t) {
    if (--t.patience == 0) [[unlikely]]
        cudart_cpu_yield(t);
}

/// A thread of a block without checks. Where such a thread may wait, it pauses by itself.
struct Unchecked : Thread {};

inline void spin(Unchecked&) {}

template <class OneThread>
inline u64 clock_now(OneThread& t) {
    spin(t);
    return cudart_cpu_clock();
}
template <class OneThread>
inline u64 timer_now(OneThread& t) {
    spin(t);
    return cudart_cpu_global_timer();
}

/// Checks an access if the runtime checks accesses; else does nothing.
inline u64 checked(Thread& t, u64 at, u32 bytes, Access access, u32 location, u32 order) {
    if (t.block->checks != 0) [[unlikely]]
        cudart_cpu_check(t, at, bytes, access, location, order);
    return at;
}

inline u64 checked(Unchecked&, u64 at, u32, Access, u32, u32) {
    return at;
}

template <class Value>
inline Value load(u64 from) {
    return *reinterpret_cast<const Value*>(from);
}
template <class Value>
inline void store(u64 to, Value value) {
    *reinterpret_cast<Value*>(to) = value;
}
template <class Value, class OneThread>
inline Value load_strong(OneThread& t, u64 from) {
    spin(t);
    return __builtin_bit_cast(Value, __atomic_load_n(reinterpret_cast<const Bits<Value>*>(from), __ATOMIC_ACQUIRE));
}
template <class Value>
inline void store_strong(Thread&, u64 to, Value value) {
    __atomic_store_n(reinterpret_cast<Bits<Value>*>(to), bits(value), __ATOMIC_RELEASE);
}

inline void fence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/// Updates a value. Shared memory belongs to one block, and the threads of a block take turns: no atomic is needed.
template <bool Shared, class Value, class OneThread, class Next>
inline Value update(OneThread& t, u64 at, Next next) {
    spin(t);
    using Second = Bits<Value>;
    auto* const place = reinterpret_cast<Second*>(at);
    if constexpr (Shared) {
        const Value old = __builtin_bit_cast(Value, *place);
        *place = bits(static_cast<Value>(next(old)));
        asm volatile("" ::: "memory"); // threads never run at once from here
        return old;
    } else {
        Second seen = __atomic_load_n(place, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(place, &seen,
                                            bits(static_cast<Value>(next(__builtin_bit_cast(Value, seen)))), true,
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        }
        return __builtin_bit_cast(Value, seen);
    }
}
template <bool Shared, class Value, class OneThread>
inline Value atom_add(OneThread& t, u64 at, Value value) {
    if constexpr (!Shared && std::is_integral_v<Value>) {
        spin(t);
        return __atomic_fetch_add(reinterpret_cast<Value*>(at), value, __ATOMIC_SEQ_CST);
    } else {
        return update<Shared, Value>(t, at, [=](Value old) {
            if constexpr (std::is_integral_v<Value>)
                return add(old, value);
            else
                return old + value;
        });
    }
}
template <bool Shared, class Value, class OneThread>
inline Value atom_exch(OneThread& t, u64 at, Value value) {
    return update<Shared, Value>(t, at, [=](Value) { return value; });
}
template <bool Shared, class Value, class OneThread>
inline Value atom_cas(OneThread& t, u64 at, Value expected, Value value) {
    return update<Shared, Value>(t, at, [=](Value old) { return old == expected ? value : old; });
}
template <bool Shared, class Value, class OneThread>
inline Value atom_and(OneThread& t, u64 at, Value value) {
    return update<Shared, Value>(t, at, [=](Value old) { return static_cast<Value>(old & value); });
}
template <bool Shared, class Value, class OneThread>
inline Value atom_or(OneThread& t, u64 at, Value value) {
    return update<Shared, Value>(t, at, [=](Value old) { return static_cast<Value>(old | value); });
}
template <bool Shared, class Value, class OneThread>
inline Value atom_xor(OneThread& t, u64 at, Value value) {
    return update<Shared, Value>(t, at, [=](Value old) { return static_cast<Value>(old ^ value); });
}
template <bool Shared, class Value, class OneThread>
inline Value atom_min(OneThread& t, u64 at, Value value) {
    return update<Shared, Value>(t, at, [=](Value old) { return value < old ? value : old; });
}
template <bool Shared, class Value, class OneThread>
inline Value atom_max(OneThread& t, u64 at, Value value) {
    return update<Shared, Value>(t, at, [=](Value old) { return old < value ? value : old; });
}
template <bool Shared, class Value, class OneThread>
inline Value atom_inc(OneThread& t, u64 at, Value limit) {
    return update<Shared, Value>(t, at,
                                 [=](Value old) { return old >= limit ? Value{0} : static_cast<Value>(old + 1); });
}
template <bool Shared, class Value, class OneThread>
inline Value atom_dec(OneThread& t, u64 at, Value limit) {
    return update<Shared, Value>(
        t, at, [=](Value old) { return old == 0 || old > limit ? limit : static_cast<Value>(old - 1); });
}
template <bool Shared, class Half, class OneThread>
inline Half atom_half_add(OneThread& t, u64 at, Half value) {
    return update<Shared, Half>(t, at, [=](Half old) { return hadd(old, value); });
}
template <bool Shared, class Pair, class OneThread>
inline Pair atom_pair_add(OneThread& t, u64 at, Pair value) {
    return update<Shared, Pair>(
        t, at, [=](Pair old) { return pairwise<Pair>([](auto a, auto b) { return hadd(a, b); }, old, value); });
}

inline void copy(u64 to, u64 from, u32 bytes, u32 valid) {
    auto* const out = reinterpret_cast<unsigned char*>(to);
    const auto* const in = reinterpret_cast<const unsigned char*>(from);
    for (u32 i = 0; i < bytes; ++i)
        out[i] = i < valid ? in[i] : 0;
}

} // namespace cudart_cpu::ptx
