// Pipelines of asynchronous copies to shared memory, which is larger than a kernel has without asking for it.
#include "kernel_test.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>

#pragma nv_diag_suppress 20054 // the pipeline's state in shared memory has no constructor that counts

namespace cg = cooperative_groups;

namespace {

constexpr int tile = 64;
constexpr int depth = 32;
constexpr int stages = 4;
constexpr unsigned product_shared = stages * 2 * tile * depth * sizeof(float);

/// Copies 16 bytes, of which only `valid` are read; the rest becomes zero.
__device__ void copy_16(float* to, const float* from, unsigned valid) {
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
        "l"(from), "r"(valid)
        : "memory");
}

/// The product of two matrices with padded rows; tiles come in stages, each of which is a group of copies.
__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k, int row_of_a, int row_of_b) {
    extern __shared__ float4 memory[];
    auto* const tiles = reinterpret_cast<float*>(memory);
    const int first_row = static_cast<int>(blockIdx.y) * tile;
    const int first_column = static_cast<int>(blockIdx.x) * tile;
    const int thread = static_cast<int>(threadIdx.x);
    const int steps = (k + depth - 1) / depth;
    const auto fetch = [&](int step) {
        float* const tile_a = tiles + step % stages * 2 * tile * depth;
        float* const tile_b = tile_a + tile * depth;
        for (int i = thread; step < steps && i < tile * depth / 4; i += static_cast<int>(blockDim.x)) {
            const int ra = first_row + i / (depth / 4);
            const int ca = step * depth + i % (depth / 4) * 4;
            const int left_a = ra < m ? min(max(k - ca, 0), 4) : 0;
            copy_16(tile_a + 4 * i, left_a > 0 ? a + ra * row_of_a + ca : a, 4u * static_cast<unsigned>(left_a));
            const int rb = step * depth + i / (tile / 4);
            const int cb = first_column + i % (tile / 4) * 4;
            const int left_b = rb < k ? min(max(n - cb, 0), 4) : 0;
            copy_16(tile_b + 4 * i, left_b > 0 ? b + rb * row_of_b + cb : b, 4u * static_cast<unsigned>(left_b));
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    for (int step = 0; step < stages - 1; ++step)
        fetch(step);
    float sums[4][4] = {};
    const int y = thread / 16 * 4;
    const int x = thread % 16 * 4;
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
        __syncthreads();
        fetch(step + stages - 1);
        const float* const tile_a = tiles + step % stages * 2 * tile * depth;
        const float* const tile_b = tile_a + tile * depth;
        for (int i = 0; i < depth; ++i)
            for (int row = 0; row < 4; ++row)
                for (int column = 0; column < 4; ++column)
                    sums[row][column] += tile_a[(y + row) * depth + i] * tile_b[i * tile + x + column];
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int row = 0; row < 4; ++row)
        for (int column = 0; column < 4; ++column)
            if (first_row + y + row < m && first_column + x + column < n)
                c[(first_row + y + row) * n + first_column + x + column] = sums[row][column];
}

/// The first warp copies, the others add what has come.
__global__ void sum_by_producer(const int* in, int* sums, int batches) {
    constexpr int batch = 256;
    constexpr int ahead = 3;
    extern __shared__ int buffers[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, ahead> state;
    const cg::thread_block block = cg::this_thread_block();
    const bool produces = block.thread_rank() < 32;
    auto pipe =
        cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int sum = 0;
    for (int i = 0; i < batches; ++i) {
        int* const buffer = buffers + i % ahead * batch;
        if (produces) {
            pipe.producer_acquire();
            for (unsigned at = block.thread_rank() * 4; at < batch; at += 128)
                cuda::memcpy_async(buffer + at, in + i * batch + at, cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            for (unsigned at = block.thread_rank() - 32; at < batch; at += block.size() - 32)
                sum += buffer[at] * (i + 1);
            pipe.consumer_release();
        }
    }
    if (!produces) sums[block.thread_rank() - 32] = sum;
}

/// A pipeline of each thread's own, and copies of a whole block.
__global__ void sum_two_stages(const int* in, int* out, int batches) {
    constexpr unsigned batch = 128;
    __shared__ alignas(16) int buffers[2][batch];
    __shared__ alignas(16) int whole[batch];
    const cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline();
    const unsigned i = block.thread_rank();
    const auto fetch = [&](int number) {
        pipe.producer_acquire();
        if (number < batches) cuda::memcpy_async(&buffers[number % 2][i], in + number * batch + i, sizeof(int), pipe);
        pipe.producer_commit();
    };
    cg::memcpy_async(block, whole, in, sizeof(int) * batch);
    fetch(0);
    int sum = 0;
    for (int number = 0; number < batches; ++number) {
        fetch(number + 1);
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        block.sync();
        sum += buffers[number % 2][(i + 1) % batch] * (number + 1);
        block.sync();
        pipe.consumer_release();
    }
    cg::wait(block);
    out[i] = sum + 1000 * whole[batch - 1 - i];
}

/// Bulk copies, to shared memory with a barrier that counts bytes, and back.
__global__ void reverse_in_bulk(const int* in, int* out, unsigned count) {
#if __CUDA_ARCH__ >= 900
    extern __shared__ float4 memory[];
    auto* const values = reinterpret_cast<int*>(memory);
    __shared__ alignas(8) unsigned long long barrier;
    const auto address = [](const void* pointer) { return static_cast<unsigned>(__cvta_generic_to_shared(pointer)); };
    const unsigned bytes = count * static_cast<unsigned>(sizeof(int));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&barrier)) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    for (unsigned round = 0; round < 3; ++round) {
        const int* const from = round == 0 ? in : out;
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&barrier)), "r"(bytes)
                         : "memory");
            for (unsigned half = 0; half < 2; ++half)
                asm volatile(
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                        address(values + half * count / 2)),
                    "l"(from + half * count / 2), "r"(bytes / 2), "r"(address(&barrier))
                    : "memory");
        }
        unsigned done = 0;
        while (done == 0)
            asm volatile("{\n.reg .pred p;\n"
                         "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, p;\n}"
                         : "=r"(done)
                         : "r"(address(&barrier)), "r"(round % 2)
                         : "memory");
        for (unsigned i = threadIdx.x; i < count / 2; i += blockDim.x) {
            const int kept = values[i];
            values[i] = values[count - 1 - i] + 1;
            values[count - 1 - i] = kept + 1;
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(address(values)),
                         "r"(bytes)
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
            asm volatile("fence.proxy.async;" ::: "memory");
        }
        __syncthreads();
    }
#endif
}

std::vector<int> some_numbers(int count) {
    Numbers numbers(21);
    std::vector<int> values;
    for (int i = 0; i < count; ++i)
        values.push_back(static_cast<int>(numbers.next() % 15) - 7);
    return values;
}

/// Launches are refused until the kernel has asked for so much shared memory.
template <class Kernel>
void allow_shared(Kernel kernel, unsigned bytes) {
    OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
}

} // namespace

KERNEL_TEST("a product of matrices that arrive in four stages") {
    const int m = 100;
    const int n = 68;
    const int k = 150;
    const int row_of_a = 152;
    const int row_of_b = 72;
    const std::vector<int> numbers = some_numbers(m * row_of_a + k * row_of_b);
    const std::vector<float> a(numbers.begin(), numbers.begin() + m * row_of_a);
    const std::vector<float> b(numbers.begin() + m * row_of_a, numbers.end());
    const Device<float> da(a);
    const Device<float> db(b);
    const Device<float> dc(m * n);
    const auto launch = [&] {
        multiply<<<dim3((n + tile - 1) / tile, (m + tile - 1) / tile), 256, product_shared>>>(
            da.get(), db.get(), dc.get(), m, n, k, row_of_a, row_of_b);
    };
    launch();
    expect(cudaGetLastError() == cudaErrorInvalidValue, "the memory is there without asking");
    allow_shared(multiply, product_shared);
    launch();
    std::vector<float> expected(m * n);
    for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column)
            for (int i = 0; i < k; ++i)
                expected[row * n + column] += a[row * row_of_a + i] * b[i * row_of_b + column];
    expect_same(dc.read(), expected, "product");
}

KERNEL_TEST("a pipeline from one warp to the others") {
    const int batches = 10;
    const std::vector<int> in = some_numbers(256 * batches);
    const Device<int> device(in);
    const Device<int> sums(64);
    sum_by_producer<<<1, 96, 3 * 256 * sizeof(int)>>>(device.get(), sums.get(), batches);
    std::vector<int> expected(64);
    for (int i = 0; i < 256 * batches; ++i)
        expected[i % 64] += in[i] * (i / 256 + 1);
    expect_same(sums.read(), expected, "sums");
}

KERNEL_TEST("pipelines of single threads, and copies by a block") {
    const int batches = 5;
    const std::vector<int> in = some_numbers(128 * batches);
    const Device<int> device(in);
    const Device<int> out(128);
    sum_two_stages<<<1, 128>>>(device.get(), out.get(), batches);
    std::vector<int> expected;
    for (int i = 0; i < 128; ++i) {
        expected.push_back(1000 * in[127 - i]);
        for (int number = 0; number < batches; ++number)
            expected.back() += in[number * 128 + (i + 1) % 128] * (number + 1);
    }
    expect_same(out.read(), expected, "sums");
}

KERNEL_TEST("bulk copies of all shared memory that a block can have") {
    int major = 0;
    int most = 0;
    OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    if (major < 9) return;
    const unsigned bytes = static_cast<unsigned>(most) - 1024;
    const unsigned count = bytes / 32 * 8;
    const std::vector<int> in = some_numbers(static_cast<int>(count));
    const Device<int> device(in);
    const Device<int> out(count);
    allow_shared(reverse_in_bulk, bytes);
    reverse_in_bulk<<<1, 128, bytes>>>(device.get(), out.get(), count);
    std::vector<int> expected(in.rbegin(), in.rend());
    for (int& value : expected)
        value += 3;
    expect_same(out.read(), expected, "values");
}
