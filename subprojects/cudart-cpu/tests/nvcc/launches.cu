// Ways to launch: templates, lambdas, function pointers, streams, captures and graphs.
#include "kernel_test.hpp"

#include <utility>

namespace {

template <class T, int Factor>
__global__ void scale(T* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= static_cast<T>(Factor);
}

template <class F>
__global__ void for_each(int n, F f) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        f(i);
}

__global__ void block_sums(const int* in, int* out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void add(int* to, int what) {
    atomicAdd(to, what);
}

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    __device__ explicit Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
    int side;
};
struct Box : Shape {
    __device__ Box(int w, int h) : width(w), height(h) {}
    __device__ int area() const override { return width * height; }
    int width, height;
};

__global__ void areas(int* out) {
    Square square(static_cast<int>(threadIdx.x));
    Box box(3, static_cast<int>(threadIdx.x));
    const Shape* const shape = threadIdx.x % 2 == 0 ? static_cast<const Shape*>(&square) : &box;
    out[threadIdx.x] = shape->area();
}

__device__ int twice(int x) {
    return 2 * x;
}
__device__ int negative(int x) {
    return -x;
}
using Function = int (*)(int);
__device__ Function functions[2] = {twice, negative};

__global__ void indirect(int* out) {
    out[threadIdx.x] = functions[threadIdx.x % 2](static_cast<int>(threadIdx.x));
}

__device__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recursive(int* out) {
    out[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x));
}

__global__ void choose(int* values) {
    int& value = values[threadIdx.x];
    switch (value) {
    case 0:
        value = 10;
        break;
    case 1:
        value = 21;
        break;
    case 2:
        value = 32;
        break;
    case 3:
        value = 43;
        break;
    case 4:
        value = 54;
        break;
    case 5:
        value = 65;
        break;
    case 6:
        value *= 100;
        break;
    default:
        value = -1;
    }
}

} // namespace

KERNEL_TEST("kernels that are templates, and lambdas") {
    const Device<float> floats(std::vector<float>{1, 2, 3});
    scale<float, 3><<<1, 32>>>(floats.get(), 3);
    expect_same<float>(floats.read(), {3, 6, 9}, "floats");
    const Device<long long> longs(std::vector<long long>{1, 2, 3});
    scale<long long, -2><<<1, 32>>>(longs.get(), 3);
    expect_same<long long>(longs.read(), {-2, -4, -6}, "longs");
    const Device<int> out(100);
    int* const place = out.get();
    const int add_this = 5;
    for_each<<<2, 32>>>(100, [=] __device__(int i) { place[i] = i * i + add_this; });
    std::vector<int> expected;
    for (int i = 0; i < 100; ++i)
        expected.push_back(i * i + 5);
    expect_same(out.read(), expected, "lambda");
}

KERNEL_TEST("virtual functions, function pointers, recursion, switches") {
    const Device<int> out(16);
    areas<<<1, 16>>>(out.get());
    std::vector<int> expected;
    for (int i = 0; i < 16; ++i)
        expected.push_back(i % 2 == 0 ? i * i : 3 * i);
    expect_same(out.read(), expected, "areas");
    indirect<<<1, 16>>>(out.get());
    for (int i = 0; i < 16; ++i)
        expected[i] = i % 2 == 0 ? 2 * i : -i;
    expect_same(out.read(), expected, "indirect");
    recursive<<<1, 16>>>(out.get());
    for (int i = 0; i < 16; ++i)
        expected[i] = i < 2 ? i : expected[i - 1] + expected[i - 2];
    expect_same(out.read(), expected, "recursive");
    const Device<int> values(std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
    choose<<<1, 8>>>(values.get());
    expect_same<int>(values.read(), {10, 21, 32, 43, 54, 65, 600, -1}, "switch");
}

KERNEL_TEST("launches by function, and attributes of kernels") {
    std::vector<int> in(256, 3);
    const Device<int> device(in);
    const Device<int> out(4);
    const int* input = device.get();
    int* output = out.get();
    void* args[] = {&input, &output};
    OK(cudaLaunchKernel(reinterpret_cast<const void*>(&block_sums), dim3(4), dim3(64), args, 0, nullptr));
    expect_same<int>(out.read(), {192, 192, 192, 192}, "sums");
    cudaFuncAttributes attributes{};
    OK(cudaFuncGetAttributes(&attributes, block_sums));
    expect(attributes.sharedSizeBytes == sizeof(int),
           "static shared memory: " + std::to_string(attributes.sharedSizeBytes));
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(2);
    config.blockDim = dim3(128);
    OK(cudaLaunchKernelEx(&config, block_sums, static_cast<const int*>(input), output));
    expect_same<int>(out.read(), {384, 384, 192, 192}, "sums");
}

KERNEL_TEST("launches in streams, captured and as nodes") {
    const Device<int> sum(1);
    int* const place = sum.get();
    cudaStream_t stream = nullptr;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    add<<<3, 4, 0, stream>>>(place, 1);
    add<<<1, 1, 0, stream>>>(place, 100);
    cudaGraph_t graph = nullptr;
    OK(cudaStreamEndCapture(stream, &graph));
    cudaGraphNode_t node = nullptr;
    cudaKernelNodeParams params{};
    int what = 1000;
    int* pointer = place;
    void* args[] = {&pointer, &what};
    params.func = reinterpret_cast<void*>(&add);
    params.gridDim = dim3(2);
    params.blockDim = dim3(2);
    params.kernelParams = args;
    OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    cudaGraphExec_t exec = nullptr;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; ++i)
        OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    expect_same<int>(sum.read(), {3 * (12 + 100 + 4000)}, "sum");
    what = 5;
    OK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    expect_same<int>(sum.read(), {3 * (12 + 100 + 4000) + 12 + 100 + 20}, "sum after an update");
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}

#if CUDART_VERSION >= 12040
namespace {

__global__ void count_down(int* left, cudaGraphConditionalHandle handle) {
    __shared__ int now;
    if (threadIdx.x == 0) now = --*left;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) cudaGraphSetConditional(handle, now > 0 ? 1 : 0);
}

} // namespace

KERNEL_TEST("a graph that repeats its body while a kernel says so") {
    const Device<int> left(std::vector<int>{7});
    const Device<int> sum(1);
    cudaGraph_t graph = nullptr;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle handle{};
    OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
    OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
#else
    OK(cudaGraphAddNode(&node, graph, nullptr, 0, &params));
#endif
    cudaStream_t stream = nullptr;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCaptureToGraph(stream, params.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                     cudaStreamCaptureModeThreadLocal));
    add<<<1, 8, 0, stream>>>(sum.get(), 1);
    count_down<<<1, 32, 0, stream>>>(left.get(), handle);
    OK(cudaStreamEndCapture(stream, nullptr));
    cudaGraphExec_t exec = nullptr;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    expect_same<int>(sum.read(), {56}, "sum");
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}
#endif
