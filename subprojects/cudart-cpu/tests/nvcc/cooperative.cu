// Cooperative groups: tiles, coalesced threads, grids and clusters.
#include "kernel_test.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

namespace {

__global__ void tiles(const int* in, int* out) {
    const cg::thread_block block = cg::this_thread_block();
    const auto eight = cg::tiled_partition<8>(block);
    const auto warp = cg::tiled_partition<32>(block);
    const int value = in[block.thread_rank()];
    int* const to = out + 5 * block.thread_rank();
    to[0] = cg::reduce(eight, value, cg::plus<int>());
    to[1] = cg::reduce(warp, value, cg::greater<int>());
    to[2] = cg::exclusive_scan(eight, value);
    to[3] = eight.shfl(value, 3);
    const auto odd = cg::binary_partition(warp, value % 2 != 0);
    to[4] = static_cast<int>(odd.size());
    block.sync();
}

__global__ void count_matching(const int* in, int n, int* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 7 == 2) {
        const auto active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(count, static_cast<int>(active.size()));
    }
}

/// Solves a chain of springs by Jacobi's method; the grid meets after each step.
__global__ void solve(double* a, double* b, const double* force, int n, int steps, double* residual) {
    const cg::grid_group grid = cg::this_grid();
    const cg::thread_block block = cg::this_thread_block();
    for (int step = 0; step < steps; ++step) {
        for (unsigned long long i = grid.thread_rank(); i < static_cast<unsigned long long>(n); i += grid.size()) {
            const double left = i > 0 ? a[i - 1] : 0;
            const double right = i + 1 < static_cast<unsigned long long>(n) ? a[i + 1] : 0;
            b[i] = 0.5 * (left + right + force[i]);
        }
        grid.sync();
        double* const swap = a;
        a = b;
        b = swap;
    }
    const auto warp = cg::tiled_partition<32>(block);
    double sum = 0;
    for (unsigned long long i = grid.thread_rank(); i < static_cast<unsigned long long>(n); i += grid.size())
        sum += fabs(a[i] - b[i]);
    sum = cg::reduce(warp, sum, cg::plus<double>());
    if (warp.thread_rank() == 0) atomicAdd(residual, sum);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
__global__ void cluster_sums(const int*, int*) {}
#else
/// Blocks of a cluster read each other's shared memory.
__global__ void __cluster_dims__(4, 1, 1) cluster_sums(const int* in, int* out) {
    __shared__ int sum;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
    cluster.sync();
    if (threadIdx.x == 0) {
        int all = 0;
        for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank)
            all += *cluster.map_shared_rank(&sum, rank);
        out[blockIdx.x] = all * 10 + static_cast<int>(cluster.block_rank());
    }
    cluster.sync();
}
#endif

std::vector<int> some_numbers(int n) {
    Numbers numbers(4);
    std::vector<int> values(n);
    for (int& value : values)
        value = static_cast<int>(numbers.next() % 100);
    return values;
}

} // namespace

KERNEL_TEST("tiles that reduce and scan") {
    const std::vector<int> in = some_numbers(64);
    const Device<int> device(in);
    const Device<int> out(320);
    tiles<<<1, 64>>>(device.get(), out.get());
    std::vector<int> expected;
    for (int i = 0; i < 64; ++i) {
        int sum = 0;
        int before = 0;
        int most = 0;
        int same = 0;
        for (int k = i / 8 * 8; k < i / 8 * 8 + 8; ++k) {
            if (k < i) before += in[k];
            sum += in[k];
        }
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
            most = in[k] > most ? in[k] : most;
            same += in[k] % 2 == in[i] % 2 ? 1 : 0;
        }
        expected.insert(expected.end(), {sum, most, before, in[i / 8 * 8 + 3], same});
    }
    expect_same(out.read(), expected, "tiles");
}

KERNEL_TEST("coalesced threads count themselves") {
    const std::vector<int> in = some_numbers(1000);
    const Device<int> device(in);
    const Device<int> count(1);
    count_matching<<<8, 128>>>(device.get(), 1000, count.get());
    int expected = 0;
    for (const int value : in)
        expected += value % 7 == 2 ? 1 : 0;
    expect_same<int>(count.read(), {expected}, "count");
}

KERNEL_TEST("a solver whose grid meets after each step") {
    int n = 2000;
    int steps = 30;
    std::vector<double> force(n);
    for (int i = 0; i < n; ++i)
        force[i] = i % 100 == 50 ? 1.0 : 0.0;
    const Device<double> a(n);
    const Device<double> b(n);
    const Device<double> device_force(force);
    const Device<double> residual(1);
    double* pa = a.get();
    double* pb = b.get();
    const double* pf = device_force.get();
    double* pr = residual.get();
    void* args[] = {&pa, &pb, &pf, &n, &steps, &pr};
    int blocks = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, solve, 128, 0));
    expect(blocks > 0, "no block fits");
    OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(&solve), dim3(12), dim3(128), args, 0, nullptr));
    std::vector<double> now(n);
    std::vector<double> next(n);
    for (int step = 0; step < steps; ++step) {
        for (int i = 0; i < n; ++i)
            next[i] = 0.5 * ((i > 0 ? now[i - 1] : 0) + (i + 1 < n ? now[i + 1] : 0) + force[i]);
        now.swap(next);
    }
    double expected = 0;
    for (int i = 0; i < n; ++i)
        expected += std::fabs(now[i] - next[i]);
    expect_same(a.read(), now, "solution");
    expect_near<double>(residual.read(), {expected}, 1e-12, "residual");
}

KERNEL_TEST("blocks of a cluster that read each other's shared memory") {
    cudaDeviceProp properties{};
    OK(cudaGetDeviceProperties(&properties, 0));
    if (properties.major < 9) return;
    const std::vector<int> in = some_numbers(512);
    const Device<int> device(in);
    const Device<int> out(8);
    cluster_sums<<<8, 64>>>(device.get(), out.get());
    std::vector<int> expected;
    for (int block = 0; block < 8; ++block) {
        int sum = 0;
        for (int i = block / 4 * 256; i < block / 4 * 256 + 256; ++i)
            sum += in[i];
        expected.push_back(sum * 10 + block % 4);
    }
    expect_same(out.read(), expected, "cluster");
}
