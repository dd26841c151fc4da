// docs/migrate*.md: the same work by the Runtime API alone, and by cudag.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace pages {
namespace migration { // its `n` stays apart from those of the other pages
namespace {

constexpr int n = 1000;
constexpr std::size_t bytes = n * sizeof(float);
const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
const auto check = [](cudaError_t status) { cudag::check(status); };

/// Existing code with a stream: multiplies `x` by `factor`.
void enqueue_scale(cudaStream_t stream, float factor, float* x) {
    int count = n;
    void* arguments[] = {&count, &factor, &x};
    check(cudaLaunchKernel(reinterpret_cast<const void*>(scale), dim3(4), dim3(256), arguments, 0, stream));
}

void raw_graph(cudaStream_t stream, float* x, float* y, float* sum, float* host) {
    // raw_graph begins
    cudaGraph_t graph;
    check(cudaGraphCreate(&graph, 0));

    cudaMemsetParams fill{};
    fill.dst = x;
    fill.elementSize = sizeof(float);
    fill.width = n;
    fill.height = 1;
    fill.value = 0x3f800000; // the bits of 1.0f
    cudaGraphNode_t ones, twos;
    check(cudaGraphAddMemsetNode(&ones, graph, nullptr, 0, &fill));
    fill.dst = y;
    fill.value = 0x40000000;
    check(cudaGraphAddMemsetNode(&twos, graph, nullptr, 0, &fill));

    int count = n;
    float factor = 3.0f;
    void* scale_arguments[] = {&count, &factor, &x};
    cudaKernelNodeParams kernel{};
    kernel.func = reinterpret_cast<void*>(scale);
    kernel.gridDim = dim3((n + 255) / 256);
    kernel.blockDim = dim3(256);
    kernel.kernelParams = scale_arguments;
    cudaGraphNode_t scaled;
    check(cudaGraphAddKernelNode(&scaled, graph, &ones, 1, &kernel));

    void* add_arguments[] = {&count, &x, &y, &sum};
    kernel.func = reinterpret_cast<void*>(add);
    kernel.kernelParams = add_arguments;
    const cudaGraphNode_t before_add[] = {scaled, twos};
    cudaGraphNode_t added, down;
    check(cudaGraphAddKernelNode(&added, graph, before_add, 2, &kernel));
    check(cudaGraphAddMemcpyNode1D(&down, graph, &added, 1, host, sum, bytes, cudaMemcpyDeviceToHost));

    cudaGraphExec_t exec;
    check(cudaGraphInstantiate(&exec, graph, 0));
    check(cudaGraphLaunch(exec, stream));

    factor = 5.0f; // all parameters of the kernel again
    kernel.func = reinterpret_cast<void*>(scale);
    kernel.kernelParams = scale_arguments;
    check(cudaGraphExecKernelNodeSetParams(exec, scaled, &kernel));
    check(cudaGraphLaunch(exec, stream));
    check(cudaStreamSynchronize(stream)); // host = 5 * 1 + 2
    check(cudaGraphExecDestroy(exec));    // not before the launches have ended, and also after an error
    check(cudaGraphDestroy(graph));
    // raw_graph ends
}

void graph() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n), sum(n);
    cudag::PinnedBuffer<float> host(n);
    raw_graph(stream.get(), x.data(), y.data(), sum.data(), host.data());
    expect(host[n - 1], 7, "what the raw graph made");
    host[n - 1] = 0;
    // graph begins
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f).label("ones");
    auto twos = b.memset(y, 2.0f).label("twos");
    auto scaled = b.kernel(config, scale, n, 3.0f, x).label("scale").after(ones);
    auto added = b.kernel(config, add, n, x, y, sum).label("add").after(scaled, twos);
    b.memcpy(host, sum).label("download").after(added);

    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);

    exec.update(scaled, cudag::arg<1>(5.0f)); // one argument, checked by the compiler
    exec.launch(stream);
    stream.synchronize(); // host = 5 * 1 + 2; everything is released in its turn
    // graph ends
    expect(host[n - 1], 7, "what the graph made");
}

void adopted() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> buffer(n);
    float* x = buffer.data();
    // adopted begins
    cudaGraph_t made; // by code that stays as it is
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
    enqueue_scale(stream.get(), 3.0f, x);
    check(cudaStreamEndCapture(stream.get(), &made));

    cudag::Graph graph = cudag::Graph::adopt(made); // or view(made): borrowed
    cudag::Exec exec = graph.instantiate();
    exec.update(graph.find_one(scale), cudag::arg<1>(5.0f)); // handles are found by kernel
    check(cudaGraphLaunch(exec.native(), stream.get()));     // and CUDA's functions take cudag's objects
    // adopted ends
    stream.synchronize();
}

void raw_loop(cudaStream_t stream, float* x) {
    // raw_loop begins
    cudaGraphExec_t exec = nullptr;
    for (int step = 1; step <= 3; ++step) {
        cudaGraph_t graph;
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        enqueue_scale(stream, static_cast<float>(step), x);
        enqueue_scale(stream, 0.5f, x);
        check(cudaStreamEndCapture(stream, &graph));

        cudaGraphExecUpdateResultInfo result{};
        if (exec == nullptr || cudaGraphExecUpdate(exec, graph, &result) != cudaSuccess) {
            static_cast<void>(cudaGetLastError()); // else the next check reports the refused update
            if (exec != nullptr) check(cudaGraphExecDestroy(exec));
            check(cudaGraphInstantiate(&exec, graph, 0));
        }
        check(cudaGraphDestroy(graph));
        check(cudaGraphLaunch(exec, stream));
    }
    check(cudaStreamSynchronize(stream)); // x *= 1 * 2 * 3 / 2^3
    check(cudaGraphExecDestroy(exec));
    // raw_loop ends
}

void loops() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> buffer(n);
    cudag::PinnedBuffer<float> host(n);
    float* const x = buffer.data();
    const auto expect_product = [&](float start, const char* what) {
        cudag::memcpy_async(stream, host, buffer);
        stream.synchronize();
        expect(host[n - 1], start * 0.75f, what);
        cudag::memset_async(stream, buffer, 8.0f);
    };
    cudag::memset_async(stream, buffer, 8.0f);
    raw_loop(stream.get(), x);
    expect_product(8, "what the raw loop made");
    {
        // captured_loop begins
        std::optional<cudag::Exec> exec;
        for (int step = 1; step <= 3; ++step) {
            cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
                c.step("scale", [&](cudaStream_t s) { enqueue_scale(s, static_cast<float>(step), x); });
                c.step("halve", [&](cudaStream_t s) { enqueue_scale(s, 0.5f, x); });
            });
            if (exec)
                exec->update_or_instantiate(graph); // exec->update_counts() counts both outcomes
            else
                exec = graph.instantiate();
            exec->launch(stream);
        }
        // captured_loop ends
        expect_product(8, "what the captured loop made");
    }
    {
        // node_loop begins
        cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) { // once
            c.step("scale", [&](cudaStream_t s) { enqueue_scale(s, 1.0f, x); });
            c.step("halve", [&](cudaStream_t s) { enqueue_scale(s, 0.5f, x); });
        });
        const auto node = graph.find_one("scale").as(scale);
        cudag::Exec exec = graph.instantiate();
        for (int step = 1; step <= 3; ++step) {
            exec.update(node, cudag::arg<1>(static_cast<float>(step)));
            exec.launch(stream);
        }
        // node_loop ends
        expect_product(8, "what the loop over one argument made");
    }
    {
        // cached_loop begins
        cudag::CaptureCache cache({.warm_up = 0, .capacity = 16});
        for (int step = 1; step <= 3; ++step) // each key is captured once, and replayed from then on
            cache.run(stream, step, [&](cudaStream_t s) {
                enqueue_scale(s, static_cast<float>(step), x);
                enqueue_scale(s, 0.5f, x);
            });
        // cached_loop ends
        expect_product(8, "what the cached loop made");
    }
}

void raw_fork(cudaStream_t stream, float* x, float* y, float* sum) {
    // raw_fork begins
    cudaStream_t side;
    cudaEvent_t forked, joined;
    check(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    check(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));

    cudaGraph_t graph;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    check(cudaEventRecord(forked, stream));
    check(cudaStreamWaitEvent(side, forked));
    enqueue_scale(stream, 3.0f, x);
    enqueue_scale(side, 5.0f, y);
    check(cudaEventRecord(joined, side));
    check(cudaStreamWaitEvent(stream, joined));
    enqueue_scale(stream, 1.0f, sum);
    check(cudaStreamEndCapture(stream, &graph));
    // raw_fork ends
    check(cudaGraphDestroy(graph));
    check(cudaEventDestroy(joined));
    check(cudaEventDestroy(forked));
    check(cudaStreamDestroy(side));
}

void fork() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> given_x(n), given_y(n), given_sum(n);
    float *const x = given_x.data(), *const y = given_y.data(), *const sum = given_sum.data();
    raw_fork(stream.get(), x, y, sum);
    // fork begins
    cudag::Stream side;
    cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
        c.fork(side);
        enqueue_scale(stream.get(), 3.0f, x);
        enqueue_scale(side.get(), 5.0f, y);
        c.join(side);
        enqueue_scale(stream.get(), 1.0f, sum);
    });
    // fork ends
    expect(static_cast<float>(graph.edge_count()), 2, "the number of edges");
}

/// docs/migrate-libraries.md: what tasks with declared accesses become.
void tasks() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n), sum(n);
    cudag::PinnedBuffer<float> host(n);
    // tasks begins
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.memset(x, 1.0f);
    b.memset(y, 2.0f);                               // beside the first fill
    b.kernel(config, scale, n, 3.0f, x);             // `float* x`: reads and writes
    b.kernel(config, add, n, x, y, cudag::out(sum)); // `const float*`: reads only
    b.memcpy(host, sum);
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    stream.synchronize(); // host = 3 * 1 + 2
    // tasks ends
    expect(host[0], 5, "what the tasks made");
}

/// Stands for a model: its work goes into any stream, and its result is new memory.
cudag::DeviceSpan<float> forward(cudaStream_t stream, cudag::DeviceSpan<float> batch) {
    enqueue_scale(stream, 2.0f, batch.data());
    return batch;
}

void model() {
    cudag::Stream stream;
    cudag::PinnedBuffer<float> host(n), result(n);
    for (float& value : host)
        value = 4;
    // model begins
    cudag::GraphedFunction model(forward, {.warm_up_runs = 3});
    for (int step = 0; step < 5; ++step) {
        const cudag::DeviceSpan<float> output = model.forward(stream, host); // copies the input, then replays
        cudag::memcpy_async(stream, result, output);
        stream.synchronize();
    }
    // model ends
    expect(result[0], 8, "what the model made");
    expect(static_cast<float>(model.captures()), 1, "the number of captures");
}

void static_input() {
    cudag::Stream stream;
    cudag::PinnedBuffer<float> host(n);
    for (float& value : host)
        value = 4;
    // static_input begins
    cudag::DeviceBuffer<float> input(n); // static memory
    cudag::Exec graph = cudag::capture(stream, [&](cudaStream_t s) { forward(s, input.span()); }).instantiate();
    for (int step = 0; step < 5; ++step) {
        cudag::memcpy_async(stream, input, host); // fill the static input
        graph.launch(stream);
    }
    // static_input ends
    cudag::memcpy_async(stream, host, input);
    stream.synchronize();
    expect(host[0], 8, "what the static graph made");
}

} // namespace
} // namespace migration

void migrate() {
    using namespace migration;
    graph();
    adopted();
    loops();
    fork();
    tasks();
    model();
    static_input();
}

} // namespace pages
