// Kernels split at their meetings: each part is a loop over threads, without stacks of their own.
#pragma once

#include "memory.hpp"

namespace cudart_cpu::ptx {

/// Element `thread` of the array of a block's frame that begins after `at` bytes of each of its `threads`.
template <class Value>
inline Value& slot(unsigned char* frame, u64 threads, u64 thread, u64 at) {
    return reinterpret_cast<Value*>(frame + at * threads)[thread];
}

template <class Run>
__attribute__((always_inline)) inline void split_rows(Block& block, u32 begin, u32 end, Run run_row) {
    const Index size = block.ntid;
    u32 x = begin;
    u32 y = 0;
    u32 z = 0;
    if (begin >= size.x) {
        x = begin % size.x;
        y = begin / size.x;
        if (y >= size.y) {
            z = y / size.y;
            y = y % size.y;
        }
    }
    while (begin < end) {
        const u32 left = end - begin;
        const u32 row = size.x - x < left ? size.x - x : left;
        run_row(x, y, z, begin, row);
        begin += row;
        x = 0;
        if (++y == size.y) {
            y = 0;
            ++z;
        }
    }
}

template <class Run>
__attribute__((always_inline)) inline u32 split_thread(Block& block, u32 x, u32 y, u32 z, u32 number, Run run) {
    Unchecked t{};
    t.block = &block;
    t.stack_low = block.stack_low;
    t.patience = split_patience;
    t.tid = {x, y, z};
    t.lane = number & 31;
    t.warp = number >> 5;
    return run(t, number);
}

/// Runs threads, and notes where each goes on. Returns that place if it is the same for all.
template <class Run>
__attribute__((always_inline)) inline u32 each_thread(Block& block, u32 begin, u32 end, u16* next, Run run) {
    u32 first = 0;
    u32 others = 0;
    bool is_first = true;
    split_rows(
        block, begin, end, [&](u32 x, u32 y, u32 z, u32 number, u32 count) __attribute__((always_inline)) {
            for (u32 i = 0; i < count; ++i) {
                const u32 to = split_thread(block, x + i, y, z, number + i, run);
                next[number + i] = static_cast<u16>(to);
                if (is_first) first = to;
                is_first = false;
                others |= first ^ to;
            }
        });
    return others == 0 ? first : split_mixed;
}

/// Runs threads that all go on at the same place.
template <class Run>
__attribute__((always_inline)) inline u32 same_threads(Block& block, u32 begin, u32 end, u16*, Run run) {
    u32 to = 0;
    split_rows(
        block, begin, end, [&](u32 x, u32 y, u32 z, u32 number, u32 count) __attribute__((always_inline)) {
            for (u32 i = 0; i < count; ++i)
                to = split_thread(block, x + i, y, z, number + i, run);
        });
    return to;
}

} // namespace cudart_cpu::ptx
