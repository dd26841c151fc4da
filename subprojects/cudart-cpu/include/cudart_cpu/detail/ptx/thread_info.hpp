// Information of a thread about itself and its block, and blocks with threads that run in turn.
#pragma once

#include "memory.hpp"

namespace cudart_cpu::ptx {

inline u32 dynamic_shared_at(const Block& block) {
    return block.total_shared - block.dynamic_shared;
}
inline u32 cluster_rank(const Block& block) {
    const Index& size = block.cluster;
    return block.ctaid.x % size.x + (block.ctaid.y % size.y + block.ctaid.z % size.z * size.y) * size.x;
}
/// Whether `at` is local memory: it lies on the stack, which grows downwards from the thread's own frames.
inline bool is_local(Thread&, u64 at) {
    const u64 here = address(__builtin_frame_address(0));
    return at >= here - 4096 && at < here + (64u << 10);
}

/// Fails the kernel if the thread's stack has no room for `bytes` more.
inline void require_stack(Thread& t, u64 bytes, u32 location) {
    const u64 left = address(__builtin_frame_address(0)) - t.stack_low;
    if (bytes > left || left - bytes < stack_reserve) [[unlikely]]
        cudart_cpu_stack_overflow(t, location);
}

template <class OneThread, class Run>
__attribute__((always_inline)) inline void in_turn(Block& block, Run run) {
    OneThread t{};
    t.block = &block;
    t.stack_low = block.stack_low;
    t.patience = patience;
    const Index size = block.ntid;
    u32 number = 0;
    for (u32 z = 0; z < size.z; ++z)
        for (u32 y = 0; y < size.y; ++y)
            for (u32 x = 0; x < size.x; ++x, ++number) {
                t.tid = {x, y, z};
                t.lane = number & 31;
                t.warp = number >> 5;
                run(t);
            }
}

/// Runs all threads of a block in turn. `run` is called, for blocks with checks; `run_unchecked`, with the same body,
/// is inlined. It runs on a copy of the block, so the compiler knows that nothing else changes it.
template <class Run>
__attribute__((always_inline)) inline void for_each_thread(Block& block, void (*run)(Thread&), Run run_unchecked) {
    if (block.checks != 0) return in_turn<Thread>(block, run);
    Block own = block;
    in_turn<Unchecked>(own, run_unchecked);
}

} // namespace cudart_cpu::ptx
