// Atomic operations.
#include "kernel_test.hpp"

#include <cuda/atomic>

namespace {

constexpr int blocks = 20;
constexpr int threads = 128;

__global__ void all(int* i, unsigned* u, unsigned long long* l, float* f, double* d, int* old) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    old[n] = atomicAdd(i, 1);
    atomicSub(i + 1, 2);
    atomicMin(i + 2, n - 100);
    atomicMax(i + 3, n);
    atomicAnd(u, ~(1u << (n % 32)));
    atomicOr(u + 1, 1u << (n % 7));
    atomicXor(u + 2, static_cast<unsigned>(n));
    atomicInc(u + 3, 9);
    atomicDec(u + 4, 9);
    atomicAdd(l, 1ull << 33);
    atomicMax(l + 1, static_cast<unsigned long long>(n) << 20);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    atomicExch(i + 4, n);
    int seen = i[5];
    for (int expected = -1; seen != expected;) {
        expected = seen;
        seen = atomicCAS(i + 5, expected, expected + 3);
    }
}

__global__ void in_shared(int* out) {
    __shared__ int sum;
    __shared__ unsigned long long wide;
    __shared__ float real;
    if (threadIdx.x == 0) sum = 0, wide = 0, real = 0;
    __syncthreads();
    atomicAdd(&sum, static_cast<int>(threadIdx.x));
    atomicAdd(&wide, 1ull << 32);
    atomicAdd(&real, 1.0f);
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = sum;
        out[1] = static_cast<int>(wide >> 32);
        out[2] = static_cast<int>(real);
    }
}

/// One block hands a value to the other through memory, which both wait for.
__global__ void ping_pong(int* flag, int* out, int rounds) {
    cuda::atomic_ref<int, cuda::thread_scope_device> turn(*flag);
    for (int i = 0; i < rounds; ++i) {
        while (turn.load(cuda::memory_order_acquire) % 2 != static_cast<int>(blockIdx.x)) {
        }
        ++*out;
        turn.fetch_add(1, cuda::memory_order_release);
    }
}

/// A lock that threads of one warp take in turn.
__global__ void locked(int* lock, int* sum) {
    for (bool done = false; !done;)
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            volatile int* const place = sum;
            *place = *place + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}

} // namespace

KERNEL_TEST("atomic operations on global memory") {
    const int n = blocks * threads;
    const Device<int> i(std::vector<int>{0, 0, 1000, -5, -1, 0});
    const Device<unsigned> u(std::vector<unsigned>{~0u, 0, 0, 0, 0});
    const Device<unsigned long long> l(std::vector<unsigned long long>{0, 0});
    const Device<float> f(1);
    const Device<double> d(1);
    const Device<int> old(n);
    all<<<blocks, threads>>>(i.get(), u.get(), l.get(), f.get(), d.get(), old.get());
    std::vector<int> numbers = i.read();
    expect(numbers[4] >= 0 && numbers[4] < n, "exchanged");
    numbers[4] = 0;
    expect_same<int>(numbers, {n, -2 * n, -100, n - 1, 0, 3 * n}, "int");
    unsigned parity = 0;
    unsigned down = 0;
    for (int k = 0; k < n; ++k) {
        parity ^= static_cast<unsigned>(k);
        down = down == 0 || down > 9 ? 9 : down - 1;
    }
    expect_same<unsigned>(u.read(), {0, 0x7F, parity, static_cast<unsigned>(n % 10), down}, "unsigned");
    expect_same<unsigned long long>(
        l.read(), {static_cast<unsigned long long>(n) << 33, static_cast<unsigned long long>(n - 1) << 20}, "long");
    expect_same<float>(f.read(), {0.5f * n}, "float");
    expect_same<double>(d.read(), {0.25 * n}, "double");
    std::vector<bool> seen(n);
    for (const int value : old.read())
        seen.at(value) = true;
    for (int k = 0; k < n; ++k)
        expect(seen[k], "each old value is seen once");
}

KERNEL_TEST("atomic operations on shared memory") {
    const Device<int> out(3);
    in_shared<<<3, 96>>>(out.get());
    expect_same<int>(out.read(), {95 * 96 / 2, 96, 96}, "shared");
}

KERNEL_TEST("blocks that wait for each other's memory") {
    const Device<int> flag(1);
    const Device<int> out(1);
    ping_pong<<<2, 1>>>(flag.get(), out.get(), 50);
    expect_same<int>(out.read(), {100}, "ping-pong");
}

KERNEL_TEST("a lock that threads spin on") {
    const Device<int> lock(1);
    const Device<int> sum(1);
    locked<<<4, 64>>>(lock.get(), sum.get());
    expect_same<int>(sum.read(), {256}, "lock");
}
