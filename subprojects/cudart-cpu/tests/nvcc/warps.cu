// Warps: shuffles, votes, matches, reductions, and who is active.
#include "kernel_test.hpp"

namespace {

constexpr unsigned everyone = 0xFFFFFFFF;

__global__ void shuffles(int* out) {
    const int lane = threadIdx.x;
    int* const to = out + 10 * lane;
    const int value = lane * lane;
    to[0] = __shfl_sync(everyone, value, 5);
    to[1] = __shfl_sync(everyone, value, lane + 1, 8);
    to[2] = __shfl_up_sync(everyone, value, 3);
    to[3] = __shfl_up_sync(everyone, value, 3, 16);
    to[4] = __shfl_down_sync(everyone, value, 7);
    to[5] = __shfl_down_sync(everyone, value, 7, 8);
    to[6] = __shfl_xor_sync(everyone, value, 9);
    to[7] = __shfl_xor_sync(everyone, value, 5, 4);
    to[8] = static_cast<int>(__shfl_sync(everyone, 0.5 * value, lane ^ 1) * 2);
    to[9] = static_cast<int>(__shfl_xor_sync(everyone, static_cast<long long>(value) << 40, 16) >> 40);
}

__global__ void votes(unsigned* out) {
    const unsigned lane = threadIdx.x;
    unsigned* const to = out + 8 * lane;
    to[0] = __ballot_sync(everyone, lane % 3 == 0);
    to[1] = __any_sync(everyone, lane == 40) + 2 * __any_sync(everyone, lane == 4);
    to[2] = __all_sync(everyone, lane < 32) + 2 * __all_sync(everyone, lane < 31);
    to[3] = __match_any_sync(everyone, lane / 5);
    int same = 0;
    to[4] = __match_all_sync(everyone, 17, &same) + same;
    to[5] = __match_all_sync(everyone, lane / 31, &same) + same;
    to[6] = __match_any_sync(everyone, static_cast<unsigned long long>(lane % 2) << 50);
    to[7] = 0;
    if (lane < 10) to[7] = __ballot_sync(0x3FF, lane % 2); // some of the lanes only
}

__global__ void reductions(unsigned* out) {
    const unsigned lane = threadIdx.x;
    unsigned* const to = out + 8 * lane;
    to[0] = __reduce_add_sync(everyone, lane);
    to[1] = static_cast<unsigned>(__reduce_min_sync(everyone, static_cast<int>(lane) - 16));
    to[2] = static_cast<unsigned>(__reduce_max_sync(everyone, static_cast<int>(lane) - 40));
    to[3] = __reduce_max_sync(everyone, lane ^ 0x80000000);
    to[4] = __reduce_and_sync(everyone, lane | 0xF0);
    to[5] = __reduce_or_sync(everyone, 1u << lane % 8);
    to[6] = __reduce_xor_sync(everyone, lane * 3);
    to[7] = lane % 4 == 1 ? __reduce_add_sync(0x22222222, lane) : __reduce_add_sync(0xDDDDDDDD, 1u);
}

__global__ void active(unsigned* out) {
    const unsigned lane = threadIdx.x % 32;
    unsigned mask = 0;
    if (lane < 7)
        mask = __activemask();
    else if (lane < 20)
        mask = __activemask();
    __syncwarp();
    out[threadIdx.x] = mask;
}

/// In divergent branches each group goes its own way, and they meet again.
__global__ void divergent(int* out) {
    const int lane = threadIdx.x;
    int value = lane;
    if (lane % 2 == 0) {
        for (int k = 2; k < 32; k *= 2)
            value += __shfl_xor_sync(0x55555555, value, k);
    } else {
        for (int k = 2; k < 32; k *= 2)
            value = max(value, __shfl_xor_sync(0xAAAAAAAA, value, k));
    }
    __syncwarp();
    out[lane] = value + 1000 * __shfl_xor_sync(everyone, value, 1);
}

/// Lanes that have ended are not waited for.
__global__ void ended(int* out) {
    const int lane = threadIdx.x;
    if (lane >= 20) return;
    __syncwarp();
    out[lane] = static_cast<int>(__ballot_sync(everyone, lane % 2 == 0));
}

__global__ void registers(unsigned* out) {
    unsigned lane, warp, lower, equal;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
    asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(equal));
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[thread] = lane + 100 * (warp < 32) + 1000 * (lower == (1u << lane) - 1) + 10000 * (equal == 1u << lane);
}

} // namespace

KERNEL_TEST("shuffles") {
    const Device<int> out(320);
    shuffles<<<1, 32>>>(out.get());
    std::vector<int> expected;
    const auto square = [](int lane) { return lane * lane; };
    for (int lane = 0; lane < 32; ++lane) {
        expected.push_back(square(5));
        expected.push_back(square(lane / 8 * 8 + (lane + 1) % 8));
        expected.push_back(square(lane >= 3 ? lane - 3 : lane));
        expected.push_back(square(lane % 16 >= 3 ? lane - 3 : lane));
        expected.push_back(square(lane + 7 < 32 ? lane + 7 : lane));
        expected.push_back(square(lane % 8 + 7 < 8 ? lane + 7 : lane));
        expected.push_back(square(lane ^ 9));
        expected.push_back(square((lane ^ 5) < lane / 4 * 4 + 4 ? lane ^ 5 : lane));
        expected.push_back(square(lane ^ 1));
        expected.push_back(square(lane ^ 16));
    }
    expect_same(out.read(), expected, "shuffles");
}

KERNEL_TEST("votes and matches") {
    const Device<unsigned> out(256);
    votes<<<1, 32>>>(out.get());
    std::vector<unsigned> expected;
    for (unsigned lane = 0; lane < 32; ++lane) {
        expected.insert(expected.end(), {0x49249249, 2, 1});
        unsigned same = 0;
        for (unsigned other = 0; other < 32; ++other)
            if (other / 5 == lane / 5) same |= 1u << other;
        expected.insert(expected.end(),
                        {same, everyone + 1, 0, lane % 2 ? 0xAAAAAAAA : 0x55555555, lane < 10 ? 0x2AAu : 0u});
    }
    expect_same(out.read(), expected, "votes");
}

KERNEL_TEST("reductions of a warp") {
    const Device<unsigned> out(256);
    reductions<<<1, 32>>>(out.get());
    std::vector<unsigned> expected;
    unsigned all_xor = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        all_xor ^= lane * 3;
    for (unsigned lane = 0; lane < 32; ++lane)
        expected.insert(expected.end(), {496, static_cast<unsigned>(-16), static_cast<unsigned>(-9), 0x8000001F, 0xF0,
                                         0xFF, all_xor, lane % 4 == 1 ? 1 + 5 + 9 + 13 + 17 + 21 + 25 + 29 : 24u});
    expect_same(out.read(), expected, "reductions");
}

KERNEL_TEST("active lanes are those of a branch") {
    const Device<unsigned> out(64);
    active<<<1, 64>>>(out.get());
    std::vector<unsigned> expected;
    for (int lane = 0; lane < 64; ++lane)
        expected.push_back(lane % 32 < 7 ? 0x7F : lane % 32 < 20 ? 0xFFF80 : 0);
    expect_same(out.read(), expected, "active");
}

KERNEL_TEST("branches of a warp that shuffle on their own") {
    const Device<int> out(32);
    divergent<<<1, 32>>>(out.get());
    std::vector<int> expected;
    for (int lane = 0; lane < 32; ++lane)
        expected.push_back(lane % 2 == 0 ? 240 + 31000 : 31 + 240000);
    expect_same(out.read(), expected, "divergent");
    const Device<int> few(20);
    ended<<<1, 32>>>(few.get());
    expect_same(few.read(), std::vector<int>(20, 0x55555), "ended");
}

KERNEL_TEST("special registers of lanes") {
    const Device<unsigned> out(96);
    registers<<<1, dim3(4, 8, 3)>>>(out.get());
    std::vector<unsigned> expected;
    for (unsigned thread = 0; thread < 96; ++thread)
        expected.push_back(thread % 32 + 11100);
    expect_same(out.read(), expected, "registers");
}
