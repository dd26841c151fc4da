// Barriers of blocks, of some of their threads, and what they count.
#include "kernel_test.hpp"

#include <cuda/barrier>

namespace {

__global__ void turns(int* out, int rounds) {
    __shared__ int value[256];
    const int i = threadIdx.x;
    value[i] = i;
    __syncthreads();
    for (int k = 0; k < rounds; ++k) {
        const int next = value[(i + 1) % blockDim.x];
        __syncthreads();
        value[i] = next + 1;
        __syncthreads();
    }
    out[i] = value[i];
}

__global__ void counted(int* out) {
    const int i = threadIdx.x;
    out[3 * i] = __syncthreads_count(i % 3 == 0);
    out[3 * i + 1] = __syncthreads_and(i >= 0) + 2 * __syncthreads_and(i > 0);
    out[3 * i + 2] = __syncthreads_or(i == 77) + 2 * __syncthreads_or(i > 1000);
}

/// Producers arrive at one barrier and wait at another, as pipelines of warps do.
__global__ void named(const int* in, int* out, int rounds) {
    __shared__ int box[32];
    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < rounds; ++k) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            box[lane] = in[32 * k + lane];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    } else {
        for (int k = 0; k < rounds; ++k) {
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
            out[32 * k + lane] = box[31 - lane];
        }
    }
}

/// Producers end as soon as they have arrived.
__global__ void handed_over(int* out) {
    __shared__ int box[32];
    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        box[lane] = lane * lane;
        asm volatile("bar.arrive 3, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 3, 64;" ::: "memory");
        out[lane] = box[31 - lane];
    }
}

/// Threads that have ended are not waited for.
__global__ void early(int* out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    if (threadIdx.x >= 40) return;
    __syncthreads();
    atomicAdd(&sum, 1);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void objects(int* out) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(Barrier) unsigned char memory[sizeof(Barrier)];
    __shared__ int data[128];
    auto& barrier = *reinterpret_cast<Barrier*>(memory);
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    for (int k = 0; k < 4; ++k) {
        data[threadIdx.x] = static_cast<int>(threadIdx.x) * (k + 1);
        auto token = barrier.arrive();
        barrier.wait(std::move(token));
        const int sum = data[(threadIdx.x + 64) % 128] + data[threadIdx.x];
        barrier.arrive_and_wait();
        if (k == 3) out[threadIdx.x] = sum;
    }
}

/// Across warps, with lanes that go different ways between the barriers.
__global__ void mixed(int* out) {
    __shared__ int sums[8];
    const int warp = threadIdx.x / 32;
    int value = threadIdx.x % 32;
    if (warp % 2 == 0)
        for (int k = 16; k > 0; k /= 2)
            value += __shfl_down_sync(0xFFFFFFFF, value, k);
    else
        for (int k = 0; k < 5; ++k)
            value += __any_sync(0xFFFFFFFF, value > 100);
    if (threadIdx.x % 32 == 0) sums[warp] = value;
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = sums[threadIdx.x];
}

} // namespace

KERNEL_TEST("values handed on at each barrier") {
    const Device<int> out(256);
    turns<<<1, 256>>>(out.get(), 100);
    std::vector<int> expected;
    for (int i = 0; i < 256; ++i)
        expected.push_back((i + 100) % 256 + 100);
    expect_same(out.read(), expected, "turns");
}

KERNEL_TEST("barriers that count") {
    const Device<int> out(300);
    counted<<<1, 100>>>(out.get());
    std::vector<int> expected;
    for (int i = 0; i < 100; ++i)
        expected.insert(expected.end(), {34, 1, 1});
    expect_same(out.read(), expected, "counted");
}

KERNEL_TEST("named barriers between warps") {
    std::vector<int> in(320);
    std::vector<int> expected(320);
    for (int i = 0; i < 320; ++i) {
        in[i] = i * 7;
        expected[i / 32 * 32 + 31 - i % 32] = i * 7;
    }
    const Device<int> device(in);
    const Device<int> out(320);
    named<<<1, 64>>>(device.get(), out.get(), 10);
    expect_same(out.read(), expected, "named");
}

KERNEL_TEST("a barrier whose producers end when they have arrived") {
    const Device<int> out(32);
    handed_over<<<1, 64>>>(out.get());
    std::vector<int> expected;
    for (int lane = 0; lane < 32; ++lane)
        expected.push_back((31 - lane) * (31 - lane));
    expect_same(out.read(), expected, "handed over");
}

KERNEL_TEST("barriers after which some threads have ended") {
    const Device<int> out(5);
    early<<<5, 100>>>(out.get());
    expect_same(out.read(), std::vector<int>(5, 40), "early");
}

KERNEL_TEST("barrier objects in shared memory") {
    const Device<int> out(128);
    objects<<<1, 128>>>(out.get());
    std::vector<int> expected;
    for (int i = 0; i < 128; ++i)
        expected.push_back(4 * ((i + 64) % 128 + i));
    expect_same(out.read(), expected, "objects");
}

KERNEL_TEST("warps that go their own way between barriers") {
    const Device<int> out(8);
    mixed<<<1, 256>>>(out.get());
    expect_same<int>(out.read(), {496, 0, 496, 0, 496, 0, 496, 0}, "mixed");
}
