// Code that relies on warps in lockstep, as it was written before __syncwarp: a GPU runs it, and this runtime with
// CUDART_CPU_LOCKSTEP=1.
#include "kernel_test.hpp"

#include <cstdlib>

#pragma nv_diag_suppress 3012 // C++20 deprecates += of volatile variables, which this code has

namespace {

constexpr int block = 128;

/// Whether warps run in lockstep; else these tests would fail.
bool in_lockstep() {
#ifdef CUDART_CPU
    const char* const value = std::getenv("CUDART_CPU_LOCKSTEP");
    return value != nullptr && std::strcmp(value, "1") == 0;
#else
    return true;
#endif
}

/// The last steps need no barrier in lockstep.
__global__ void sum_blocks(const int* in, int* out) {
    __shared__ volatile int sums[block];
    const unsigned i = threadIdx.x;
    sums[i] = in[blockIdx.x * block + i];
    __syncthreads();
    if (i < 64) sums[i] += sums[i + 64];
    __syncthreads();
    if (i < 32) {
        sums[i] += sums[i + 32];
        sums[i] += sums[i + 16];
        sums[i] += sums[i + 8];
        sums[i] += sums[i + 4];
        sums[i] += sums[i + 2];
        sums[i] += sums[i + 1];
    }
    if (i == 0) out[blockIdx.x] = sums[0];
}

/// Each warp scans its own part; the lanes that add are fewer in each step.
__global__ void scan_warps(const int* in, int* out) {
    __shared__ volatile int sums[block];
    const unsigned i = threadIdx.x;
    const unsigned lane = i % 32;
    sums[i] = in[i];
    for (unsigned by = 1; by < 32; by *= 2)
        if (lane >= by) sums[i] += sums[i - by];
    out[i] = sums[i];
}

/// Sorts each warp's part in global memory; the lanes take either side of a branch.
__global__ void sort_warps(volatile int* values) {
    const unsigned first = blockIdx.x * block + threadIdx.x / 32 * 32;
    const unsigned lane = threadIdx.x % 32;
    for (unsigned size = 2; size <= 32; size *= 2)
        for (unsigned by = size / 2; by > 0; by /= 2) {
            const int own = values[first + lane];
            const int other = values[first + (lane ^ by)];
            const bool takes_least = ((lane & by) == 0) == ((lane & size) == 0);
            if (takes_least)
                values[first + lane] = min(own, other);
            else
                values[first + lane] = max(own, other);
        }
}

/// One lane writes for all, after loops of different lengths.
__global__ void tell_all(const int* in, int* out) {
    __shared__ volatile int told[block / 32];
    __shared__ volatile int steps[block];
    const unsigned i = threadIdx.x;
    steps[i] = 0;
    for (int k = 0; k < in[i] % 400; ++k)
        steps[i] += in[(i + static_cast<unsigned>(k)) % block];
    if (i % 32 == 31) told[i / 32] = steps[i - 31] + static_cast<int>(i);
    out[i] = told[i / 32] + steps[i ^ 1];
}

/// The warp's lanes count in one histogram without atomics: of the lanes that write one counter, the last one's tag
/// stays.
__global__ void count_tagged(const int* in, int n, int* out) {
    __shared__ volatile unsigned counts[block / 32][16];
    const unsigned warp = threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    if (lane < 16) counts[warp][lane] = 0;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += block) {
        const int bin = in[i] % 16;
        unsigned count;
        do {
            count = counts[warp][bin] & 0x07FFFFFFu;
            count = lane << 27 | (count + 1);
            counts[warp][bin] = count;
        } while (counts[warp][bin] != count);
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        unsigned sum = 0;
        for (int w = 0; w < block / 32; ++w)
            sum += counts[w][threadIdx.x] & 0x07FFFFFFu;
        out[threadIdx.x] = static_cast<int>(sum);
    }
}

/// Lanes of one warp that wait for each other's lock, which current GPUs allow.
__global__ void lock_each(int* lock, int* count) {
    bool done = false;
    while (!done)
        if (atomicCAS(lock, 0, 1) == 0) {
            volatile int* const value = count;
            *value = *value + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}
__global__ void lock_first(int* lock, int* count) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    volatile int* const value = count;
    *value = *value + 1;
    __threadfence();
    atomicExch(lock, 0);
}

std::vector<int> some_numbers(int n) {
    Numbers numbers(17);
    std::vector<int> values;
    for (int i = 0; i < n; ++i)
        values.push_back(static_cast<int>(numbers.next() % 1000));
    return values;
}

} // namespace

KERNEL_TEST("sums and scans of warps in lockstep") {
    if (!in_lockstep()) return;
    const std::vector<int> in = some_numbers(4 * block);
    const Device<int> device(in);
    const Device<int> sums(4);
    sum_blocks<<<4, block>>>(device.get(), sums.get());
    std::vector<int> expected(4);
    for (int i = 0; i < 4 * block; ++i)
        expected[i / block] += in[i];
    expect_same(sums.read(), expected, "sums");
    const Device<int> scans(block);
    scan_warps<<<1, block>>>(device.get(), scans.get());
    std::vector<int> scanned;
    for (int i = 0; i < block; ++i)
        scanned.push_back(in[i] + (i % 32 == 0 ? 0 : scanned.back()));
    expect_same(scans.read(), scanned, "scans");
}

KERNEL_TEST("warps in lockstep that sort global memory") {
    if (!in_lockstep()) return;
    std::vector<int> values = some_numbers(2 * block);
    const Device<int> device(values);
    sort_warps<<<2, block>>>(device.get());
    for (int i = 0; i < 2 * block; i += 32)
        for (int a = i; a < i + 32; ++a)
            for (int b = a + 1; b < i + 32; ++b)
                if (values[b] < values[a]) std::swap(values[a], values[b]);
    expect_same(device.read(), values, "sorted");
}

KERNEL_TEST("lanes in lockstep after loops of different lengths") {
    if (!in_lockstep()) return;
    const std::vector<int> in = some_numbers(block);
    const Device<int> device(in);
    const Device<int> out(block);
    tell_all<<<1, block>>>(device.get(), out.get());
    std::vector<int> steps(block);
    for (int i = 0; i < block; ++i)
        for (int k = 0; k < in[i] % 400; ++k)
            steps[i] += in[(i + k) % block];
    std::vector<int> expected;
    for (int i = 0; i < block; ++i)
        expected.push_back(steps[i / 32 * 32] + i / 32 * 32 + 31 + steps[i ^ 1]);
    expect_same(out.read(), expected, "told");
}

KERNEL_TEST("a histogram with tags of lanes in lockstep") {
    if (!in_lockstep()) return;
    const std::vector<int> in = some_numbers(1000);
    const Device<int> device(in);
    const Device<int> out(16);
    count_tagged<<<1, block>>>(device.get(), 1000, out.get());
    std::vector<int> expected(16);
    for (const int value : in)
        ++expected[value % 16];
    expect_same(out.read(), expected, "counts");
}

KERNEL_TEST("lanes in lockstep that wait for a lock") {
    if (!in_lockstep()) return;
    const Device<int> state(2);
    lock_each<<<1, 32>>>(state.get(), state.get() + 1);
    expect_same<int>(state.read(), {0, 32}, "a lock in a branch");
    lock_first<<<1, 32>>>(state.get(), state.get() + 1);
    expect_same<int>(state.read(), {0, 64}, "a lock before all");
}
