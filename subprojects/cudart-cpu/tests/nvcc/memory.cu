// Address spaces, vectors, and copies.
#include "kernel_test.hpp"

#include <cuda_pipeline.h>

#pragma nv_diag_suppress 20044 // says that it is another variable in each file
extern __device__ int elsewhere;

namespace {

__constant__ int table[8] = {1, 2, 3, 5, 8, 13, 21, 34};
__constant__ float unset[4];
__device__ int counter = 7;
__device__ int* chosen = &counter;
__device__ unsigned char bytes[5] = {1, 2, 3};
__managed__ int managed = 11;

struct alignas(16) Wide {
    int a;
    float b;
    double c;
};
struct Odd {
    char c[3];
    short s;
    int i;
};

__global__ void read_constants(int* out) {
    out[threadIdx.x] = table[threadIdx.x] + counter + *chosen + bytes[1] + static_cast<int>(unset[threadIdx.x % 4]);
    if (threadIdx.x == 0) managed += 100;
}

__global__ void vectors(const float4* in, float4* out, const uchar4* small, uchar4* small_out, const double2* wide,
                        double2* wide_out) {
    const int i = threadIdx.x;
    const float4 v = in[i];
    out[i] = make_float4(v.w, v.z, v.y, v.x);
    const uchar4 s = small[i];
    small_out[i] = make_uchar4(s.y, s.x, s.w, static_cast<unsigned char>(s.z + 1));
    wide_out[i] = make_double2(wide[i].y, wide[i].x);
}

__global__ void structures(Odd odd, Wide wide, const Wide* more, double* out) {
    out[0] = odd.c[0] + odd.c[1] * 10 + odd.c[2] * 100 + odd.s + odd.i;
    out[1] = wide.a + wide.b + wide.c + more[1].c;
}

__device__ __noinline__ int sum_of(const int* values, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i)
        sum += values[i];
    return sum;
}

/// One function reads generic addresses of each space.
__global__ void generic(int* out, int n) {
    extern __shared__ int dynamic[];
    __shared__ int fixed[4];
    int local[6];
    for (int i = 0; i < 6; ++i)
        local[i] = i * n;
    for (int i = 0; i < 4; ++i)
        fixed[i] = dynamic[i] = i + n;
    out[0] = sum_of(local, 6);
    out[1] = sum_of(fixed, 4);
    out[2] = sum_of(dynamic, 4);
    out[3] = sum_of(table, 8);
    out[4] = __isShared(fixed) && !__isShared(out) && __isGlobal(out) && __isLocal(local) ? 1 : 0;
}

__global__ void staged(const int* in, int* out) {
    __shared__ alignas(16) int stage[256];
    const int i = threadIdx.x;
    __pipeline_memcpy_async(stage + 4 * i, in + 4 * i, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int k = 0; k < 4; ++k)
        out[4 * i + k] = stage[255 - (4 * i + k)];
}

__global__ void heap(int* out) {
    int* const mine = static_cast<int*>(malloc(64));
    for (int i = 0; i < 16; ++i)
        mine[i] = i + static_cast<int>(threadIdx.x);
    out[threadIdx.x] = mine[15];
    free(mine);
}

/// More values than registers can hold, in each of many frames.
__device__ __noinline__ double many_values(int depth, const double* in, double* out) {
    double values[100];
#pragma unroll
    for (int i = 0; i < 100; ++i)
        values[i] = in[i] * depth;
    double sum = depth > 0 ? many_values(depth - 1, in, out) : 0;
    *out = sum;
#pragma unroll
    for (int i = 99; i >= 0; --i)
        sum = sum * 0.5 + values[i];
    return sum;
}

__global__ void sum_many_values(int depth, const double* in, double* out, double* sums) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __syncthreads();
    sums[i] = many_values(depth, in, out + i);
}

/// A frame of 2000 bytes that stays while others come above it, and other threads run.
__device__ __noinline__ int descend(int depth, int seed) {
    volatile int values[500];
    for (int i = 0; i < 500; ++i)
        values[i] = seed + depth * i;
    __syncwarp();
    const int below = depth == 0 ? 0 : descend(depth - 1, seed);
    int wrong = below;
    for (int i = 0; i < 500; ++i)
        wrong += values[i] != seed + depth * i;
    return wrong;
}

__global__ void descend_together(int depth, int* wrong) {
    wrong[threadIdx.x] = descend(depth, static_cast<int>(threadIdx.x));
}

__global__ void read_elsewhere(int* to) {
    *to = elsewhere;
}

} // namespace

KERNEL_TEST("constant, global and managed variables") {
    const Device<int> out(8);
    const float values[4] = {10, 20, 30, 40};
    OK(cudaMemcpyToSymbol(unset, values, sizeof values));
    const int count = 1000;
    OK(cudaMemcpyToSymbol(counter, &count, sizeof count));
    OK(cudaDeviceSynchronize());
    managed = 5;
    read_constants<<<1, 8>>>(out.get());
    std::vector<int> expected;
    const int fibonacci[] = {1, 2, 3, 5, 8, 13, 21, 34};
    for (int i = 0; i < 8; ++i)
        expected.push_back(fibonacci[i] + 2000 + 2 + 10 * (i % 4 + 1));
    expect_same(out.read(), expected, "constants");
    expect(managed == 105, "managed variable is " + std::to_string(managed));
    int back = 0;
    OK(cudaMemcpyFromSymbol(&back, counter, sizeof back));
    expect(back == 1000, "counter is " + std::to_string(back));
    void* address = nullptr;
    std::size_t size = 0;
    OK(cudaGetSymbolAddress(&address, table));
    OK(cudaGetSymbolSize(&size, table));
    expect(address != nullptr && size == 32, "table has " + std::to_string(size) + " bytes");
}

KERNEL_TEST("vectors and structures") {
    std::vector<float4> in(32);
    std::vector<uchar4> small(32);
    std::vector<double2> wide(32);
    for (int i = 0; i < 32; ++i) {
        in[i] = make_float4(i, i + 0.25f, i + 0.5f, i + 0.75f);
        small[i] = make_uchar4(i, i + 1, i + 2, i + 3);
        wide[i] = make_double2(i, -i);
    }
    const Device<float4> device(in);
    const Device<float4> out(32);
    const Device<uchar4> device_small(small);
    const Device<uchar4> out_small(32);
    const Device<double2> device_wide(wide);
    const Device<double2> out_wide(32);
    vectors<<<1, 32>>>(device.get(), out.get(), device_small.get(), out_small.get(), device_wide.get(), out_wide.get());
    const auto got = out.read();
    const auto got_small = out_small.read();
    const auto got_wide = out_wide.read();
    for (int i = 0; i < 32; ++i) {
        expect(got[i].x == in[i].w && got[i].y == in[i].z && got[i].z == in[i].y && got[i].w == in[i].x, "float4");
        expect(got_small[i].x == i + 1 && got_small[i].y == i && got_small[i].z == i + 3 && got_small[i].w == i + 3,
               "uchar4");
        expect(got_wide[i].x == -i && got_wide[i].y == i, "double2");
    }
    const Device<Wide> more(std::vector<Wide>{{1, 2, 3}, {4, 5, 6.5}});
    const Device<double> sums(2);
    structures<<<1, 1>>>(Odd{{1, 2, 3}, 1000, 20000}, Wide{1, 0.5f, 0.25}, more.get(), sums.get());
    expect_same<double>(sums.read(), {21321.0, 8.25}, "structures");
}

KERNEL_TEST("generic addresses of each space") {
    const Device<int> out(5);
    generic<<<1, 1, 64>>>(out.get(), 3);
    expect_same<int>(out.read(), {45, 18, 18, 87, 1}, "generic");
}

KERNEL_TEST("asynchronous copies to shared memory") {
    std::vector<int> in(256);
    for (int i = 0; i < 256; ++i)
        in[i] = i * i;
    const Device<int> device(in);
    const Device<int> out(256);
    staged<<<1, 64>>>(device.get(), out.get());
    expect_same(out.read(), std::vector<int>(in.rbegin(), in.rend()), "staged");
}

KERNEL_TEST("memory that kernels allocate") {
    const Device<int> out(64);
    heap<<<2, 32>>>(out.get());
    const std::vector<int> got = out.read();
    for (int i = 0; i < 32; ++i)
        expect(got[i] == 15 + i, "heap");
}

/// While it lives, kernels have a stack of so many bytes.
class StackLimit {
  public:
    explicit StackLimit(std::size_t bytes) {
        OK(cudaDeviceGetLimit(&before_, cudaLimitStackSize));
        OK(cudaDeviceSetLimit(cudaLimitStackSize, bytes));
    }
    StackLimit(const StackLimit&) = delete;
    StackLimit& operator=(const StackLimit&) = delete;
    ~StackLimit() { cudaDeviceSetLimit(cudaLimitStackSize, before_); }

  private:
    std::size_t before_ = 0;
};

KERNEL_TEST("recursion of functions that have more values than registers") {
    const StackLimit limit(128 * 1024);
    std::vector<double> in(100);
    for (int i = 0; i < 100; ++i)
        in[i] = i % 7;
    double expected = 0;
    for (int depth = 0; depth <= 60; ++depth)
        for (int i = 99; i >= 0; --i)
            expected = expected * 0.5 + in[i] * depth;
    const Device<double> values(in);
    const Device<double> out(128);
    const Device<double> sums(128);
    sum_many_values<<<2, 64>>>(60, values.get(), out.get(), sums.get());
    expect_near(sums.read(), std::vector<double>(128, expected), 1e-12, "sums");
}

KERNEL_TEST("recursion as deep as the limit of the stack allows") {
    const StackLimit limit(128 * 1024);
    const Device<int> wrong(64);
    descend_together<<<1, 64>>>(50, wrong.get());
    expect_same(wrong.read(), std::vector<int>(64, 0), "overwritten");
}

KERNEL_TEST("a variable that is declared extern is a variable of the file's own, and no symbol") {
    const int value = 5;
    expect(cudaMemcpyToSymbol(elsewhere, &value, sizeof value) == cudaErrorInvalidSymbol, "it is a symbol");
    expect(cudaGetLastError() == cudaErrorInvalidSymbol, "no error is left");
    const Device<int> read(1);
    read_elsewhere<<<1, 1>>>(read.get());
    expect_same(read.read(), {0}, "elsewhere");
}
