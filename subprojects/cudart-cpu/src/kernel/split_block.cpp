// A block of a kernel split at its meetings: its threads take no stacks, as long as all of a warp go the same way.
#include "split_block.hpp"

#include "runtime/round_up.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace cudart_cpu::detail {

namespace {

using ptx::BarrierCall;
using ptx::SplitKind;
using ptx::SplitPoint;
using ptx::u32;
using ptx::u64;
using ptx::u8;
using ptx::WarpCall;

constexpr unsigned lanes_of_warp = 32;
constexpr u8 knows_mask = 1;
constexpr u8 knows_first = 2;
constexpr u8 knows_second = 4;
constexpr u8 needs_no_answer = 8;

unsigned first_lane(u32 lanes) {
    return static_cast<unsigned>(std::countr_zero(lanes));
}

/// The operands and results of a warp's lanes.
struct Lanes {
    u32* value;
    u32* high;
    u32* result;
    u8* answer; ///< null if nobody reads it
    const u32* first;
    const u32* second;
    u32 known_first;
    u32 known_second;
    u32 live;

    [[nodiscard]] u32 first_of(u32 lane) const { return first != nullptr ? first[lane] : known_first; }
    [[nodiscard]] u32 second_of(u32 lane) const { return second != nullptr ? second[lane] : known_second; }
    template <class Run>
    void each(Run run) const {
        if (live == ~0u) {
            for (u32 lane = 0; lane < lanes_of_warp; ++lane)
                run(lane);
            return;
        }
        for (u32 left = live; left != 0; left &= left - 1)
            run(static_cast<u32>(std::countr_zero(left)));
    }
};

/// The lane that a shuffle takes from, and whether that is within the segment: see warp_calls.cpp.
template <WarpCall Call>
void shuffle_lanes(const Lanes& lanes) {
    lanes.each([&](u32 lane) {
        const u32 by = lanes.first_of(lane) & 31;
        const u32 clamp = lanes.second_of(lane) & 31;
        const u32 segment = lanes.second_of(lane) >> 8 & 31;
        const u32 max_lane = (lane & segment) | (clamp & ~segment);
        u32 from = 0;
        bool inside = false;
        if constexpr (Call == WarpCall::shuffle_up) {
            from = lane - by;
            inside = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(max_lane);
        } else {
            from = Call == WarpCall::shuffle_down  ? lane + by
                   : Call == WarpCall::shuffle_xor ? lane ^ by
                                                   : (lane & segment) | (by & ~segment);
            inside = from <= max_lane;
        }
        if (!inside) from = lane;
        if (from >= lanes_of_warp || (lanes.live >> from & 1) == 0) from = lane;
        lanes.result[lane] = lanes.value[from];
        if (lanes.answer != nullptr) lanes.answer[lane] = inside;
    });
}

void give_all(const Lanes& lanes, u32 result, bool answer) {
    // Lanes that have ended do not mind.
    std::fill_n(lanes.result, lanes_of_warp, result);
    if (lanes.answer != nullptr) std::fill_n(lanes.answer, lanes_of_warp, u8{answer});
}

template <class T, class Combine>
void reduce_lanes(const Lanes& lanes, Combine combine) {
    T all{};
    bool is_first = true;
    lanes.each([&](u32 lane) {
        const auto value = static_cast<T>(lanes.value[lane]);
        all = is_first ? value : combine(all, value);
        is_first = false;
    });
    give_all(lanes, static_cast<u32>(all), true);
}

u32 trues_of(const Lanes& lanes) {
    u32 trues = 0;
    for (u32 lane = 0; lane < lanes_of_warp; ++lane)
        trues |= (lanes.value[lane] != 0 ? 1u : 0u) << lane;
    return trues & lanes.live;
}

void match_lanes(const Lanes& lanes, bool all_of_them) {
    const auto same = [&](u32 a, u32 b) { return lanes.value[a] == lanes.value[b] && lanes.high[a] == lanes.high[b]; };
    if (all_of_them) {
        const u32 first = first_lane(lanes.live);
        bool all = true;
        lanes.each([&](u32 lane) { all = all && same(lane, first); });
        return give_all(lanes, all ? lanes.live : 0, all);
    }
    u32 left = lanes.live;
    while (left != 0) {
        const u32 first = first_lane(left);
        u32 equals = 0;
        for (u32 rest = left; rest != 0; rest &= rest - 1) {
            const u32 lane = first_lane(rest);
            if (same(lane, first)) equals |= 1u << lane;
        }
        for (u32 rest = equals; rest != 0; rest &= rest - 1) {
            lanes.result[first_lane(rest)] = equals;
            if (lanes.answer != nullptr) lanes.answer[first_lane(rest)] = 1;
        }
        left &= ~equals;
    }
}

void answer_lanes(WarpCall call, const Lanes& lanes) {
    switch (call) {
    case WarpCall::shuffle_up:
        return shuffle_lanes<WarpCall::shuffle_up>(lanes);
    case WarpCall::shuffle_down:
        return shuffle_lanes<WarpCall::shuffle_down>(lanes);
    case WarpCall::shuffle_xor:
        return shuffle_lanes<WarpCall::shuffle_xor>(lanes);
    case WarpCall::shuffle_index:
        return shuffle_lanes<WarpCall::shuffle_index>(lanes);
    case WarpCall::vote_all: {
        const u32 trues = trues_of(lanes);
        return give_all(lanes, trues, trues == lanes.live);
    }
    case WarpCall::vote_any: {
        const u32 trues = trues_of(lanes);
        return give_all(lanes, trues, trues != 0);
    }
    case WarpCall::vote_uniform:
    case WarpCall::vote_ballot: {
        const u32 trues = trues_of(lanes);
        return give_all(lanes, trues, trues == lanes.live || trues == 0);
    }
    case WarpCall::match_any:
        return match_lanes(lanes, false);
    case WarpCall::match_all:
        return match_lanes(lanes, true);
    case WarpCall::reduce_add:
        return reduce_lanes<u32>(lanes, [](u32 a, u32 b) { return a + b; });
    case WarpCall::reduce_min_signed:
        return reduce_lanes<std::int32_t>(lanes, [](std::int32_t a, std::int32_t b) { return std::min(a, b); });
    case WarpCall::reduce_max_signed:
        return reduce_lanes<std::int32_t>(lanes, [](std::int32_t a, std::int32_t b) { return std::max(a, b); });
    case WarpCall::reduce_min:
        return reduce_lanes<u32>(lanes, [](u32 a, u32 b) { return std::min(a, b); });
    case WarpCall::reduce_max:
        return reduce_lanes<u32>(lanes, [](u32 a, u32 b) { return std::max(a, b); });
    case WarpCall::reduce_and:
        return reduce_lanes<u32>(lanes, [](u32 a, u32 b) { return a & b; });
    case WarpCall::reduce_or:
        return reduce_lanes<u32>(lanes, [](u32 a, u32 b) { return a | b; });
    case WarpCall::reduce_xor:
        return reduce_lanes<u32>(lanes, [](u32 a, u32 b) { return a ^ b; });
    case WarpCall::elect: {
        const u32 first = first_lane(lanes.live);
        lanes.each([&](u32 lane) {
            lanes.result[lane] = first;
            if (lanes.answer != nullptr) lanes.answer[lane] = lane == first;
        });
        return;
    }
    case WarpCall::active_mask:
        return give_all(lanes, lanes.live, true);
    default: // sync: only meets
        return;
    }
}

} // namespace

FramePool::~FramePool() {
    for (unsigned char* const frame : free_)
        std::free(frame);
}

FramePool::Frame FramePool::take(std::size_t bytes) {
    if (free_.empty()) {
        constexpr std::size_t line = 64;
        free_.reserve(free_.capacity() + 1);
        auto* const made = static_cast<unsigned char*>(std::aligned_alloc(line, round_up(bytes + 1, line)));
        if (made == nullptr) throw std::bad_alloc();
        return Frame(made, Release{this});
    }
    unsigned char* const frame = free_.back();
    free_.pop_back();
    return Frame(frame, Release{this});
}

SplitBlock::SplitBlock(const ptx::KernelRow& kernel, ptx::Block& block, FramePool& frames)
    : kernel_(kernel), block_(block), frame_(nullptr, FramePool::Release{&frames}) {
    const u32 count = block.ntid.x * block.ntid.y * block.ntid.z;
    warp_count_ = (count + lanes_of_warp - 1) / lanes_of_warp;
    block.frame_threads = warp_count_ * lanes_of_warp;
    frame_ = frames.take(std::size_t{block.frame_threads} * kernel.frame_bytes);
    block.frame = frame_.get();
    for (unsigned warp = 0; warp < warp_count_; ++warp) {
        const u32 rest = count - warp * lanes_of_warp;
        warps_[warp].live = rest >= lanes_of_warp ? ~0u : (1u << rest) - 1;
    }
}

SplitBlock::Place SplitBlock::place_of(unsigned warp, unsigned lane) const {
    const Warp& at = warps_[warp];
    if ((at.live >> lane & 1) == 0) return {ptx::split_end, true};
    if (!at.apart) return {at.state, at.released};
    return {slot<ptx::u16>(warp * lanes_of_warp + lane, ptx::split_next), false};
}

u32 SplitBlock::mask_of(unsigned thread, const SplitPoint& point) const {
    return (point.constants & knows_mask) != 0 ? point.mask : slot<u32>(thread, ptx::split_mask);
}
u32 SplitBlock::first_of(unsigned thread, const SplitPoint& point) const {
    return (point.constants & knows_first) != 0 ? point.first : slot<u32>(thread, ptx::split_first);
}
u32 SplitBlock::second_of(unsigned thread, const SplitPoint& point) const {
    return (point.constants & knows_second) != 0 ? point.second : slot<u32>(thread, ptx::split_second);
}

/// Runs the live lanes of a warp, in runs of neighbours. Returns where they go on; split_mixed if at several places.
u32 SplitBlock::run_lanes(unsigned warp) {
    Warp& at = warps_[warp];
    const u32 base = warp * lanes_of_warp;
    if ((at.live & (at.live + 1)) == 0)
        return kernel_.step(block_, at.state, base, base + static_cast<u32>(std::countr_one(at.live)));
    u32 first = 0;
    bool mixed = false;
    bool is_first = true;
    for (u32 left = at.live; left != 0;) {
        const u32 begin = first_lane(left);
        const u32 count = static_cast<u32>(std::countr_one(left >> begin));
        const u32 to = kernel_.step(block_, at.state, base + begin, base + begin + count);
        if (to != ptx::split_mixed)
            for (u32 lane = begin; lane < begin + count; ++lane)
                slot<ptx::u16>(base + lane, ptx::split_next) = static_cast<ptx::u16>(to);
        mixed = mixed || to == ptx::split_mixed || (!is_first && to != first);
        if (is_first) first = to;
        is_first = false;
        left &= begin + count < lanes_of_warp ? ~0u << (begin + count) : 0;
    }
    return mixed ? ptx::split_mixed : first;
}

/// Completes a warp operation of all live lanes; returns false if they do not all take part in it.
bool SplitBlock::meet(unsigned warp, const SplitPoint& point) {
    const u32 base = warp * lanes_of_warp;
    const u32 live = warps_[warp].live;
    if (static_cast<WarpCall>(point.call) != WarpCall::active_mask) {
        bool all = true;
        if ((point.constants & knows_mask) != 0)
            all = (point.mask & live) == live;
        else
            for (u32 left = live; left != 0; left &= left - 1)
                all = all && (slot<u32>(base + first_lane(left), ptx::split_mask) & live) == live;
        if (!all) return false;
    }
    const Lanes lanes{&slot<u32>(base, ptx::split_value),
                      &slot<u32>(base, ptx::split_high),
                      &slot<u32>(base, ptx::split_result),
                      (point.constants & needs_no_answer) != 0 ? nullptr : &slot<u8>(base, ptx::split_answer),
                      (point.constants & knows_first) != 0 ? nullptr : &slot<u32>(base, ptx::split_first),
                      (point.constants & knows_second) != 0 ? nullptr : &slot<u32>(base, ptx::split_second),
                      point.first,
                      point.second,
                      live};
    answer_lanes(static_cast<WarpCall>(point.call), lanes);
    return true;
}

/// Runs a warp until it has ended or waits for others. Returns false if its lanes go apart.
bool SplitBlock::run_warp(unsigned warp) {
    Warp& at = warps_[warp];
    for (;;) {
        u32 to = run_lanes(warp);
        if (to == ptx::split_mixed) {
            // Lanes that end leave the others together.
            const auto* const next = &slot<ptx::u16>(warp * lanes_of_warp, ptx::split_next);
            u32 going = 0;
            for (u32 left = at.live; left != 0; left &= left - 1)
                if (next[first_lane(left)] != ptx::split_end) going |= left & (~left + 1);
            const u32 state = next[first_lane(going)];
            for (u32 left = going; left != 0; left &= left - 1)
                if (next[first_lane(left)] != state) to = 0;
            at.live = going;
            if (to != ptx::split_mixed) {
                at.apart = true;
                return false;
            }
            to = state;
        }
        at.released = to == ptx::split_end;
        at.state = static_cast<ptx::u16>(to);
        if (to == ptx::split_end) {
            at.live = 0;
            return true;
        }
        const SplitPoint& point = kernel_.points[to];
        if (point.kind == SplitKind::barrier) return true;
        if (point.kind == SplitKind::pause || !meet(warp, point)) return false;
        at.released = true;
    }
}

/// Completes the barrier at which all live warps wait. Returns false if it is none of all threads.
bool SplitBlock::release() {
    const SplitPoint* common = nullptr;
    u32 arrived = 0;
    u32 trues = 0;
    bool same = true;
    for (unsigned warp = 0; warp < warp_count_; ++warp) {
        const Warp& at = warps_[warp];
        if (at.live == 0) continue;
        const SplitPoint& point = kernel_.points[at.state];
        if (common == nullptr) common = &point;
        same = same && &point == common;
        constexpr u8 known = knows_first | knows_second;
        if ((point.constants & known) != known || point.second != 0 || point.first != common->first ||
            point.call != common->call || static_cast<BarrierCall>(point.call) == BarrierCall::arrive)
            return false;
        if (static_cast<BarrierCall>(point.call) == BarrierCall::sync) continue;
        arrived += static_cast<u32>(std::popcount(at.live));
        for (u32 left = at.live; left != 0; left &= left - 1)
            trues += slot<u8>(warp * lanes_of_warp + first_lane(left), ptx::split_flag);
    }
    const auto call = static_cast<BarrierCall>(common->call);
    if (call != BarrierCall::sync && !same) return false;
    const u32 result = call == BarrierCall::count ? trues : call == BarrierCall::all ? trues == arrived : trues != 0;
    for (unsigned warp = 0; warp < warp_count_; ++warp) {
        Warp& at = warps_[warp];
        at.released = true;
        if (call == BarrierCall::sync) continue;
        for (u32 left = at.live; left != 0; left &= left - 1)
            slot<u32>(warp * lanes_of_warp + first_lane(left), ptx::split_result) = result;
    }
    return true;
}

SplitBlock::Outcome SplitBlock::run() {
    for (;;) {
        bool is_live = false;
        for (unsigned warp = 0; warp < warp_count_; ++warp) {
            if (warps_[warp].live == 0) continue;
            if (!run_warp(warp)) return Outcome::apart;
            is_live = is_live || warps_[warp].live != 0;
        }
        if (!is_live) return Outcome::done;
        if (!release()) return Outcome::apart;
    }
}

} // namespace cudart_cpu::detail
