// mbarrier objects: arrivals left, arrivals of a phase, and the number of the phase.
#pragma once

#include "memory.hpp"

namespace cudart_cpu::ptx {

inline constexpr u64 mbarrier_mask = (1u << 20) - 1;

inline void mbarrier_init(u64 at, u32 count) {
    store<u64>(at, (count & mbarrier_mask) | (count & mbarrier_mask) << 20);
}
inline u64 mbarrier_arrive(u64 at, u32 count, bool drops) {
    const u64 before = load<u64>(at);
    u64 left = before & mbarrier_mask;
    u64 expected = before >> 20 & mbarrier_mask;
    u64 phase = before >> 40;
    if (drops) expected -= count;
    left -= count;
    if (left == 0) {
        left = expected;
        ++phase;
    }
    store<u64>(at, left | expected << 20 | phase << 40);
    return before;
}
inline bool mbarrier_test(u64 at, u64 state) {
    return load<u64>(at) >> 40 != state >> 40;
}
inline bool mbarrier_parity(u64 at, u32 parity) {
    return (load<u64>(at) >> 40 & 1) != (parity & 1);
}
inline u32 mbarrier_pending(u64 state) {
    return static_cast<u32>(state & mbarrier_mask);
}
/// Copies are done when they are asked for: only the arrival is left to do.
inline void mbarrier_async_arrive(u64 at, bool counted) {
    if (counted) mbarrier_arrive(at, 1, false);
}

} // namespace cudart_cpu::ptx
