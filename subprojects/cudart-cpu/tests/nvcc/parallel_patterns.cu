// Reductions, scans, histograms, sorts.
#include "kernel_test.hpp"

#include <algorithm>
#include <numeric>

namespace {

__device__ int warp_sum(int value) {
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xFFFFFFFF, value, offset);
    return value;
}

__device__ unsigned finished = 0;

/// The last block adds what the others have found.
__global__ void reduce(const int* in, int n, int* partial, int* out) {
    __shared__ int sums[32];
    __shared__ bool is_last;
    int value = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        value += in[i];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
        value = warp_sum(value);
        if (threadIdx.x == 0) {
            partial[blockIdx.x] = value;
            __threadfence();
            is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
        }
    }
    __syncthreads();
    if (!is_last || threadIdx.x != 0) return;
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i)
        sum += static_cast<volatile int*>(partial)[i];
    *out = sum;
}

/// As it was written before warps had shuffles.
template <unsigned Block>
__global__ void reduce_in_shared(const float* in, float* out) {
    extern __shared__ float values[];
    const unsigned i = threadIdx.x;
    values[i] = in[blockIdx.x * Block + i];
    __syncthreads();
    for (unsigned half = Block / 2; half > 0; half >>= 1) {
        if (i < half) values[i] += values[i + half];
        __syncthreads();
    }
    if (i == 0) out[blockIdx.x] = values[0];
}

__global__ void scan_blocks(const int* in, int* out, int* sums, int n) {
    extern __shared__ int temp[];
    const int i = threadIdx.x;
    const int at = blockIdx.x * blockDim.x + i;
    temp[i] = at < n ? in[at] : 0;
    for (int offset = 1; offset < static_cast<int>(blockDim.x); offset *= 2) {
        __syncthreads();
        const int add = i >= offset ? temp[i - offset] : 0;
        __syncthreads();
        temp[i] += add;
    }
    if (at < n) out[at] = temp[i];
    if (i == static_cast<int>(blockDim.x) - 1) sums[blockIdx.x] = temp[i];
}

__global__ void add_sums(int* out, const int* sums, int n) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n && blockIdx.x > 0) out[at] += sums[blockIdx.x - 1];
}

__global__ void histogram(const unsigned char* data, int n, unsigned* bins) {
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i] != 0) atomicAdd(&bins[i], local[i]);
}

__global__ void bitonic_sort(unsigned* values) {
    __shared__ unsigned shared[512];
    const unsigned i = threadIdx.x;
    shared[i] = values[i];
    shared[i + 256] = values[i + 256];
    for (unsigned size = 2; size <= 512; size *= 2)
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            const unsigned at = 2 * i - (i & (stride - 1));
            const bool up = (at & size) == 0;
            const unsigned a = shared[at];
            const unsigned b = shared[at + stride];
            if ((a > b) == up) {
                shared[at] = b;
                shared[at + stride] = a;
            }
        }
    __syncthreads();
    values[i] = shared[i];
    values[i + 256] = shared[i + 256];
}

/// Positions from a vote, one atomic a warp.
__global__ void filter(const int* in, int n, int* out, int* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool keep = i < n && in[i] % 3 == 0;
    const unsigned mask = __ballot_sync(0xFFFFFFFF, keep);
    const int lane = threadIdx.x % 32;
    int base = 0;
    if (lane == 0 && mask != 0) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(0xFFFFFFFF, base, 0);
    if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
}

std::vector<int> random_ints(int n, unsigned seed) {
    Numbers numbers(seed);
    std::vector<int> values(n);
    for (int& value : values)
        value = static_cast<int>(numbers.next() % 1000);
    return values;
}

} // namespace

KERNEL_TEST("reduction with shuffles, the last block ends it") {
    const std::vector<int> in = random_ints(100003, 5);
    const Device<int> device(in);
    const Device<int> partial(40);
    const Device<int> out(1);
    for (int run = 0; run < 3; ++run) {
        reduce<<<40, 256>>>(device.get(), static_cast<int>(in.size()), partial.get(), out.get());
        expect_same<int>(out.read(), {std::accumulate(in.begin(), in.end(), 0)}, "sum");
    }
}

KERNEL_TEST("reduction in dynamic shared memory") {
    std::vector<float> in(512 * 7);
    std::iota(in.begin(), in.end(), 0.0f);
    const Device<float> device(in);
    const Device<float> out(7);
    reduce_in_shared<512><<<7, 512, 512 * sizeof(float)>>>(device.get(), out.get());
    std::vector<float> expected;
    for (int block = 0; block < 7; ++block)
        expected.push_back(512.0f * (512.0f * static_cast<float>(block)) + 511.0f * 256.0f);
    expect_same(out.read(), expected, "sums");
}

KERNEL_TEST("scan of blocks, and of their sums") {
    const int n = 1000;
    const std::vector<int> in = random_ints(n, 6);
    const Device<int> device(in);
    const Device<int> out(n);
    const Device<int> sums(8);
    const Device<int> sum(1);
    scan_blocks<<<8, 128, 128 * sizeof(int)>>>(device.get(), out.get(), sums.get(), n);
    scan_blocks<<<1, 8, 8 * sizeof(int)>>>(sums.get(), sums.get(), sum.get(), 8);
    add_sums<<<8, 128>>>(out.get(), sums.get(), n);
    std::vector<int> expected(n);
    std::partial_sum(in.begin(), in.end(), expected.begin());
    expect_same(out.read(), expected, "scan");
}

KERNEL_TEST("histogram with atomics on shared memory") {
    Numbers numbers(7);
    std::vector<unsigned char> data(50000);
    std::vector<unsigned> expected(256);
    for (unsigned char& value : data) {
        value = static_cast<unsigned char>(numbers.next() % 200 * numbers.next() % 256);
        ++expected[value];
    }
    const Device<unsigned char> device(data);
    const Device<unsigned> bins(256);
    histogram<<<10, 192>>>(device.get(), static_cast<int>(data.size()), bins.get());
    expect_same(bins.read(), expected, "bins");
}

KERNEL_TEST("bitonic sort") {
    Numbers numbers(8);
    std::vector<unsigned> values(512);
    for (unsigned& value : values)
        value = numbers.next();
    const Device<unsigned> device(values);
    bitonic_sort<<<1, 256>>>(device.get());
    std::sort(values.begin(), values.end());
    expect_same(device.read(), values, "sorted");
}

KERNEL_TEST("filter with one atomic a warp") {
    const std::vector<int> in = random_ints(5000, 9);
    const Device<int> device(in);
    const Device<int> out(in.size());
    const Device<int> count(1);
    filter<<<20, 256>>>(device.get(), static_cast<int>(in.size()), out.get(), count.get());
    std::vector<int> expected;
    for (const int value : in)
        if (value % 3 == 0) expected.push_back(value);
    std::vector<int> got = out.read();
    expect_same<int>(count.read(), {static_cast<int>(expected.size())}, "count");
    got.resize(expected.size());
    std::sort(got.begin(), got.end());
    std::sort(expected.begin(), expected.end());
    expect_same(got, expected, "kept");
}
