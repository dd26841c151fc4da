// A program in one .cu file, as users begin: cudag, kernels, <<<>>> and conditionals.
#include "one_file.hpp"

#include <cudag/cudag.hpp>

namespace {

__global__ void add(int* x, int y) {
    *x += y;
}
__global__ void sum_of_block(int* x) {
    __shared__ int all[6];
    all[threadIdx.x] = static_cast<int>(threadIdx.x) + 1;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (const int one : all)
        *x += one;
}
__global__ void count(int* x, int turns, cudag::Condition more) {
    more.set(++*x < turns ? 1 : 0);
}
__global__ void count_by_handle(int* x, int turns, cudaGraphConditionalHandle more) {
    cudaGraphSetConditional(more, ++*x < turns ? 1 : 0);
}

int run(cudag::Exec exec, const cudag::DeviceBuffer<int>& x) {
    cudag::Stream stream;
    int result = 0;
    cudag::memset_async(stream, x, 0);
    exec.launch(stream);
    cudag::memcpy_async(stream, std::span(&result, 1), x);
    stream.synchronize();
    return result;
}

template <class Kernel>
int turns_of(int turns, Kernel kernel) {
    const cudag::DeviceBuffer<int> x(1);
    cudag::GraphBuilder b;
    const cudag::Condition more = b.condition(1);
    b.while_(more, [&](cudag::GraphBuilder& body) { body.kernel({}, kernel, x, turns, more); });
    return run(std::move(b).build().instantiate(), x);
}

} // namespace

namespace test {

int captured_launches() {
    const cudag::DeviceBuffer<int> x(1);
    cudag::Stream stream;
    const cudag::Graph part = cudag::capture(stream, [&](cudaStream_t s) { sum_of_block<<<1, 6, 0, s>>>(x.data()); });
    cudag::GraphBuilder b;
    const auto first = b.child(part);
    b.child(part).after(first);
    return run(std::move(b).build().instantiate(), x);
}

int turns_of_loop(int turns) {
    return turns_of(turns, count);
}
int turns_of_loop_by_handle(int turns) {
    return turns_of(turns, count_by_handle);
}

int repeated(int times, bool also) {
    const cudag::DeviceBuffer<int> x(1), yes(1);
    cudag::GraphBuilder b;
    const cudag::Condition condition = b.condition();
    const auto fill = b.memset(yes, also ? 1 : 0);
    const auto set = b.set(condition, yes).after(fill);
    const auto loop = b.repeat(times, [&](cudag::GraphBuilder& body) { body.kernel({}, add, x, 1); }).after(set);
    b.if_(condition, [&](cudag::GraphBuilder& body) { body.kernel({}, add, x, 100); }).after(loop);
    return run(std::move(b).build().instantiate(), x);
}

int planned(bool as_written) {
    const cudag::DeviceBuffer<int> x(1);
    cudag::GraphBuilder b;
    b.kernel({}, add, x, 7);
    const cudag::Graph graph = std::move(b).build();
    // Plan{} crashes nvcc 13.0 here
    return run(graph.instantiate({.plan = as_written ? cudag::Plan::as_written() : cudag::Plan()}), x);
}

} // namespace test
