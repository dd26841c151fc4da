// What the toolkit's libraries of kernels compute.
#include "kernel_test.hpp"

#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <numeric>

namespace {

std::vector<int> random_ints(int n) {
    Numbers numbers(11);
    std::vector<int> values(n);
    for (int& value : values)
        value = static_cast<int>(numbers.next() % 200000) - 100000;
    return values;
}

template <class F>
void with_storage(F call) {
    std::size_t bytes = 0;
    OK(call(nullptr, bytes));
    const Device<unsigned char> storage(bytes);
    OK(call(storage.get(), bytes));
}

__global__ void sort_block(const int* in, int* out, int* sums) {
    using Sort = cub::BlockRadixSort<int, 64, 4>;
    using Scan = cub::BlockScan<int, 64>;
    __shared__ union {
        typename Sort::TempStorage sort;
        typename Scan::TempStorage scan;
    } storage;
    int items[4];
    for (int i = 0; i < 4; ++i)
        items[i] = in[threadIdx.x * 4 + i];
    Sort(storage.sort).Sort(items);
    __syncthreads();
    for (int i = 0; i < 4; ++i)
        out[threadIdx.x * 4 + i] = items[i];
    int scanned[4];
    Scan(storage.scan).InclusiveSum(items, scanned);
    for (int i = 0; i < 4; ++i)
        sums[threadIdx.x * 4 + i] = scanned[i];
}

} // namespace

KERNEL_TEST("cub sorts, reduces and scans a device's memory") {
    const int n = 20000;
    const std::vector<int> in = random_ints(n);
    const Device<int> device(in);
    const Device<int> out(n);
    const Device<int> sum(1);
    with_storage([&](void* storage, std::size_t& bytes) {
        return cub::DeviceReduce::Sum(storage, bytes, device.get(), sum.get(), n);
    });
    expect_same<int>(sum.read(), {std::accumulate(in.begin(), in.end(), 0)}, "sum");
    with_storage([&](void* storage, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveSum(storage, bytes, device.get(), out.get(), n);
    });
    std::vector<int> expected(n);
    std::partial_sum(in.begin(), in.end(), expected.begin());
    expect_same(out.read(), expected, "scan");
    with_storage([&](void* storage, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortKeys(storage, bytes, device.get(), out.get(), n);
    });
    expected = in;
    std::sort(expected.begin(), expected.end());
    expect_same(out.read(), expected, "sorted");
}

KERNEL_TEST("cub sorts and scans in a block") {
    std::vector<int> in = random_ints(256);
    const Device<int> device(in);
    const Device<int> out(256);
    const Device<int> sums(256);
    sort_block<<<1, 64>>>(device.get(), out.get(), sums.get());
    std::sort(in.begin(), in.end());
    expect_same(out.read(), in, "sorted");
    std::partial_sum(in.begin(), in.end(), in.begin());
    expect_same(sums.read(), in, "sums");
}
