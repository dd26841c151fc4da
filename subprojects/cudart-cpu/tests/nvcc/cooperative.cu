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

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
__global__ void cluster_histogram(const int*, int, int*) {}
__global__ void cluster_ring(int*) {}
__global__ void cluster_messages(const int*, int*) {}
#else
constexpr int bins_of_block = 16;

/// The bins lie in the shared memory of all blocks of the cluster.
__global__ void cluster_histogram(const int* in, int n, int* out) {
    extern __shared__ int bins[];
    const cg::cluster_group cluster = cg::this_cluster();
    for (unsigned i = threadIdx.x; i < bins_of_block; i += blockDim.x)
        bins[i] = 0;
    cluster.sync();
    for (int i = static_cast<int>(cluster.thread_rank()); i < n; i += static_cast<int>(cluster.num_threads())) {
        const unsigned bin = static_cast<unsigned>(in[i]) % (bins_of_block * cluster.num_blocks());
        int* const far = cluster.map_shared_rank(bins, bin / bins_of_block);
        atomicAdd(far + bin % bins_of_block, 1);
    }
    cluster.sync();
    for (unsigned i = threadIdx.x; i < bins_of_block; i += blockDim.x)
        out[cluster.block_rank() * bins_of_block + i] = bins[i];
}

/// Each block's threads store into the next block, with addresses of 32 bits, and ask where addresses lie.
__global__ void cluster_ring(int* out) {
    __shared__ int from_before[32];
    __shared__ int counter;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    const unsigned next = (rank + 1) % cluster.num_blocks();
    if (threadIdx.x == 0) counter = 100;
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    const auto own = static_cast<unsigned>(__cvta_generic_to_shared(from_before + threadIdx.x));
    unsigned far, far_rank, own_rank, far_counter;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(own), "r"(next));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(far), "r"(1000 * rank + threadIdx.x) : "memory");
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(far_rank) : "r"(far));
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(own_rank) : "r"(own));
    int* const generic_counter = cluster.map_shared_rank(&counter, next);
    far_counter = static_cast<unsigned>(__cvta_generic_to_shared(generic_counter));
    asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(far_counter), "r"(1) : "memory");
    cluster.barrier_arrive();
    cluster.barrier_wait();
    int read_far;
    asm volatile("ld.shared::cluster.u32 %0, [%1 + 0];" : "=r"(read_far) : "r"(far_counter) : "memory");
    int* const to = out + (rank * 32 + threadIdx.x) * 4;
    to[0] = from_before[threadIdx.x];
    to[1] = static_cast<int>(10 * far_rank + own_rank);
    to[2] = read_far;
    to[3] = static_cast<int>(cluster.query_shared_rank(generic_counter) * 100 +
                             __isClusterShared(generic_counter) * 10 + __isShared(generic_counter)) +
            (__isClusterShared(out) ? 1000 : 0);
    cluster.sync(); // no block ends while others access its memory
}

/// Blocks send each other bytes that arrive at a barrier: by st.async, by a bulk copy, and from one block to all.
__global__ void cluster_messages(const int* in, int* out) {
    __shared__ alignas(16) int received[12];
    __shared__ alignas(16) int to_send[4];
    __shared__ alignas(8) unsigned long long barrier;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    const unsigned next = (rank + 1) % cluster.num_blocks();
    const auto address = [](const void* pointer) { return static_cast<unsigned>(__cvta_generic_to_shared(pointer)); };
    const auto far = [&](const void* pointer) {
        unsigned mapped;
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address(pointer)), "r"(next));
        return mapped;
    };
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(address(&barrier)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        for (unsigned i = 0; i < 4; ++i)
            to_send[i] = static_cast<int>(100 * rank + i);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 48;" ::"r"(address(&barrier)) : "memory");
    }
    cluster.sync();
    if (threadIdx.x == 0) {
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                         far(received)),
                     "r"(rank), "r"(7), "r"(8), "r"(9), "r"(far(&barrier))
                     : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(
                far(received + 4)),
            "r"(address(to_send)), "r"(far(&barrier))
            : "memory");
        if (rank == 0)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                         " [%0], [%1], 16, [%2], %3;" ::"r"(address(received + 8)),
                         "l"(in), "r"(address(&barrier)), "h"(static_cast<short>((1 << cluster.num_blocks()) - 1))
                         : "memory");
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(far(&barrier)) : "memory");
    }
    unsigned done = 0;
    while (done == 0)
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(address(&barrier))
                     : "memory");
    if (threadIdx.x < 12) out[12 * rank + threadIdx.x] = received[threadIdx.x];
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

namespace {

/// Launches one cluster of so many blocks.
template <class... Parameters, class... Arguments>
void launch_cluster(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, unsigned shared_bytes,
                    Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    OK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

bool has_clusters() {
    cudaDeviceProp properties{};
    OK(cudaGetDeviceProperties(&properties, 0));
    return properties.major >= 9;
}

} // namespace

KERNEL_TEST("a histogram in the shared memory of a cluster") {
    if (!has_clusters()) return;
    const std::vector<int> in = some_numbers(2000);
    const Device<int> device(in);
    const Device<int> out(8 * 16);
    launch_cluster(cluster_histogram, 8, 64, 16 * sizeof(int), static_cast<const int*>(device.get()), 2000, out.get());
    std::vector<int> expected(128);
    for (const int value : in)
        ++expected[value % 128];
    expect_same(out.read(), expected, "bins");
}

KERNEL_TEST("addresses in the shared memory of other blocks") {
    if (!has_clusters()) return;
    const int blocks = 4;
    const Device<int> out(blocks * 32 * 4);
    launch_cluster(cluster_ring, blocks, 32, 0, out.get());
    std::vector<int> expected;
    for (int rank = 0; rank < blocks; ++rank)
        for (int lane = 0; lane < 32; ++lane) {
            const int next = (rank + 1) % blocks;
            expected.insert(expected.end(),
                            {1000 * ((rank + blocks - 1) % blocks) + lane, 10 * next + rank, 132, next * 100 + 10});
        }
    expect_same(out.read(), expected, "ring");
}

KERNEL_TEST("messages between the blocks of a cluster") {
    if (!has_clusters()) return;
    const int blocks = 3;
    const Device<int> device(std::vector<int>{41, 42, 43, 44});
    const Device<int> out(blocks * 12);
    launch_cluster(cluster_messages, blocks, 32, 0, static_cast<const int*>(device.get()), out.get());
    std::vector<int> expected;
    for (int rank = 0; rank < blocks; ++rank) {
        const int before = (rank + blocks - 1) % blocks;
        expected.insert(expected.end(), {before, 7, 8, 9, 100 * before, 100 * before + 1, 100 * before + 2,
                                         100 * before + 3, 41, 42, 43, 44});
    }
    expect_same(out.read(), expected, "received");
}
