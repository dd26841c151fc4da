// The results of warp operations.
#include "warp_calls.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace cudart_cpu::detail {

namespace {

using ptx::i32;
using ptx::u32;
using ptx::u64;
using ptx::WarpCall;

template <class F>
void for_each_lane(u32 lanes, F run) {
    for (u32 left = lanes; left != 0; left &= left - 1)
        run(static_cast<u32>(std::countr_zero(left)));
}

/// PTX's shfl: `first` gives the source, `second` holds the clamp and the mask of a segment.
void shuffle(ThreadRun* const* members, u32 lanes) {
    for_each_lane(lanes, [&](u32 lane) {
        ThreadRun& thread = *members[lane];
        const u32 by = thread.first & 31;
        const u32 clamp = thread.second & 31;
        const u32 segment = thread.second >> 8 & 31;
        const u32 max_lane = (lane & segment) | (clamp & ~segment);
        const u32 min_lane = lane & segment;
        u32 from = 0;
        bool inside = false;
        switch (thread.call) {
        case WarpCall::shuffle_up:
            from = lane - by;
            inside = static_cast<i32>(from) >= static_cast<i32>(max_lane);
            break;
        case WarpCall::shuffle_down:
            from = lane + by;
            inside = from <= max_lane;
            break;
        case WarpCall::shuffle_xor:
            from = lane ^ by;
            inside = from <= max_lane;
            break;
        default:
            from = min_lane | (by & ~segment);
            inside = from <= max_lane;
            break;
        }
        if (!inside) from = lane;
        // PTX defines nothing for a source lane outside the operation: here it is the own value.
        const ThreadRun* const source = from < warp_lanes && members[from] != nullptr ? members[from] : &thread;
        thread.result = {source->value, inside};
    });
}

template <class T, class F>
void reduce(ThreadRun* const* members, u32 lanes, F combine) {
    T all{};
    bool first = true;
    for_each_lane(lanes, [&](u32 lane) {
        const auto value = static_cast<T>(members[lane]->value);
        all = first ? value : combine(all, value);
        first = false;
    });
    for_each_lane(lanes, [&](u32 lane) { members[lane]->result = {static_cast<u32>(all), true}; });
}

void vote(ThreadRun* const* members, u32 lanes, WarpCall call) {
    u32 trues = 0;
    for_each_lane(lanes, [&](u32 lane) { trues |= (members[lane]->value != 0 ? 1u : 0u) << lane; });
    const bool result = call == WarpCall::vote_all   ? trues == lanes
                        : call == WarpCall::vote_any ? trues != 0
                                                     : trues == lanes || trues == 0;
    for_each_lane(lanes, [&](u32 lane) { members[lane]->result = {trues, result}; });
}

void match_any(ThreadRun* const* members, u32 lanes) {
    for_each_lane(lanes, [&](u32 lane) {
        u32 same = 0;
        for_each_lane(lanes, [&](u32 other) {
            if (members[other]->value == members[lane]->value) same |= 1u << other;
        });
        members[lane]->result = {same, true};
    });
}

void match_all(ThreadRun* const* members, u32 lanes) {
    const u64 value = members[std::countr_zero(lanes)]->value;
    bool all = true;
    for_each_lane(lanes, [&](u32 lane) { all = all && members[lane]->value == value; });
    for_each_lane(lanes, [&](u32 lane) { members[lane]->result = {all ? lanes : 0, all}; });
}

} // namespace

void answer_warp_call(ThreadRun* const* members, u32 lanes) {
    const auto first = static_cast<u32>(std::countr_zero(lanes));
    switch (const WarpCall call = members[first]->call) {
    case WarpCall::shuffle_up:
    case WarpCall::shuffle_down:
    case WarpCall::shuffle_xor:
    case WarpCall::shuffle_index:
        return shuffle(members, lanes);
    case WarpCall::vote_all:
    case WarpCall::vote_any:
    case WarpCall::vote_uniform:
    case WarpCall::vote_ballot:
        return vote(members, lanes, call);
    case WarpCall::match_any:
        return match_any(members, lanes);
    case WarpCall::match_all:
        return match_all(members, lanes);
    case WarpCall::reduce_add:
        return reduce<u32>(members, lanes, [](u32 a, u32 b) { return a + b; });
    case WarpCall::reduce_min_signed:
        return reduce<i32>(members, lanes, [](i32 a, i32 b) { return std::min(a, b); });
    case WarpCall::reduce_max_signed:
        return reduce<i32>(members, lanes, [](i32 a, i32 b) { return std::max(a, b); });
    case WarpCall::reduce_min:
        return reduce<u32>(members, lanes, [](u32 a, u32 b) { return std::min(a, b); });
    case WarpCall::reduce_max:
        return reduce<u32>(members, lanes, [](u32 a, u32 b) { return std::max(a, b); });
    case WarpCall::reduce_and:
        return reduce<u32>(members, lanes, [](u32 a, u32 b) { return a & b; });
    case WarpCall::reduce_or:
        return reduce<u32>(members, lanes, [](u32 a, u32 b) { return a | b; });
    case WarpCall::reduce_xor:
        return reduce<u32>(members, lanes, [](u32 a, u32 b) { return a ^ b; });
    case WarpCall::elect:
        for_each_lane(lanes, [&](u32 lane) { members[lane]->result = {first, lane == first}; });
        return;
    case WarpCall::matrix: {
        // Missing lanes bring the same as the first one.
        std::array<ptx::MatrixCall*, warp_lanes> calls{};
        for (u32 lane = 0; lane < warp_lanes; ++lane)
            calls[lane] =
                reinterpret_cast<ptx::MatrixCall*>((members[lane] != nullptr ? members[lane] : members[first])->value);
        return calls[first]->compute(calls.data());
    }
    default: // sync: only meets
        return;
    }
}

} // namespace cudart_cpu::detail
