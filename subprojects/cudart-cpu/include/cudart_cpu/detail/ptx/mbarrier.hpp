// mbarrier objects: arrivals left, arrivals per phase, the phase number, and the bytes in transit.
#pragma once

#include "memory.hpp"

namespace cudart_cpu::ptx {

struct Mbarrier {
    u16 left;
    u16 expected;
    u32 phase : 8;
    i32 bytes : 24;
};
static_assert(sizeof(Mbarrier) == sizeof(u64));

inline Mbarrier& mbarrier_at(u64 at) {
    return *reinterpret_cast<Mbarrier*>(at);
}
inline void mbarrier_check(Mbarrier& barrier) {
    if (barrier.left != 0 || barrier.bytes != 0) return;
    barrier.left = barrier.expected;
    ++barrier.phase;
}
inline void mbarrier_init(u64 at, u32 count) {
    mbarrier_at(at) = {static_cast<u16>(count), static_cast<u16>(count), 0, 0};
}
inline void mbarrier_expect(u64 at, u32 bytes) {
    mbarrier_at(at).bytes += static_cast<i32>(bytes);
    // No check is needed: the matching arrival, or the bytes, are still to come.
}
inline void mbarrier_complete(u64 at, u32 bytes) {
    mbarrier_at(at).bytes -= static_cast<i32>(bytes);
    mbarrier_check(mbarrier_at(at));
}
inline u64 mbarrier_arrive(u64 at, u32 count, bool drops) {
    const u64 before = load<u64>(at);
    Mbarrier& barrier = mbarrier_at(at);
    if (drops) barrier.expected = static_cast<u16>(barrier.expected - count);
    barrier.left = static_cast<u16>(barrier.left - count);
    mbarrier_check(barrier);
    return before;
}
inline bool mbarrier_test(u64 at, u64 state) {
    return mbarrier_at(at).phase != __builtin_bit_cast(Mbarrier, state).phase;
}
inline bool mbarrier_parity(u64 at, u32 parity) {
    return (mbarrier_at(at).phase & 1) != (parity & 1);
}
inline u32 mbarrier_pending(u64 state) {
    return __builtin_bit_cast(Mbarrier, state).left;
}
/// Counts the arrival of earlier copies. Copies here complete immediately, so only the arrival is left to do.
inline void mbarrier_async_arrive(u64 at, bool counted) {
    if (counted) mbarrier_arrive(at, 1, false);
}

} // namespace cudart_cpu::ptx
