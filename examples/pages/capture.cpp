// docs/capture.md: nodes written into a capture, capture_or_run, and a cache of captured graphs by key.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <cstddef>
#include <cstdio>
#include <tuple>

namespace pages {
namespace {

/// Stands for existing code: it enqueues its work into any stream.
void decode(cudaStream_t stream, int batch, int length, const cudag::DeviceBuffer<float>& x) {
    cudag::launch(stream, cudag::grid_1d(x.size(), 64), scale, batch * length, 2.0f, x);
}

void mixed() {
    const int n = 64;
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), value(1);
    cudag::PinnedBuffer<float> host(1);
    // mixed begins
    cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
        c.step("start", [&](cudaStream_t s) { cudag::memset_async(s, value, 100.0f); });
        cudag::Condition again = c.condition(1);
        c.while_(again, [&](cudag::GraphBuilder& body) { body.kernel({}, halve, 1.0f, value, again); });
        c.step("download", [&](cudaStream_t s) { cudag::memcpy_async(s, host, value); });
    });
    // mixed ends
    picture("mixed", graph.dot());
    graph.instantiate().launch(stream);
    stream.synchronize();
    expect(host[0], 100.0f / 128, "the value halved in a capture");
}

// joined begins
void library(cudaStream_t stream, int n, const cudag::DeviceBuffer<float>& x) {
    if (!cudag::is_capturing(stream)) return cudag::launch(stream, cudag::grid_1d(x.size(), 64), scale, n, 2.0f, x);
    auto joined = cudag::StreamCapture::join_existing(stream);
    joined.repeat(3, [&](cudag::GraphBuilder& body) { body.kernel(cudag::grid_1d(x.size(), 64), scale, n, 2.0f, x); });
    std::move(joined).leave();
}
// joined ends

/// Captures `library` as a program without cudag does.
void captured_by_others() {
    const int n = 64;
    const cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    cudag::PinnedBuffer<float> host(n);
    cudag::memset_async(stream, x, 1.0f);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudag::check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    library(stream.get(), n, x);
    cudag::check(cudaStreamEndCapture(stream.get(), &graph));
    cudag::check(cudaGraphInstantiate(&exec, graph, 0));
    cudag::check(cudaGraphLaunch(exec, stream.get()));
    cudag::memcpy_async(stream, host, x);
    stream.synchronize();
    cudag::check(cudaGraphExecDestroy(exec));
    cudag::check(cudaGraphDestroy(graph));
    expect(host[0], 8.0f, "the value of a joined capture");
}

void once() {
    const int n = 64;
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // once begins
    auto ran = cudag::capture_or_run(stream, [&](cudaStream_t s) { decode(s, 8, 8, x); });
    if (ran.exec)
        ran.exec->launch(stream); // replays it
    else
        std::puts(ran.error->what()); // the reason for the eager run
    // once ends
    stream.synchronize();
    if (!ran.exec) throw std::runtime_error("the work was not captured");
}

void cached_captures() {
    const int batch = 8, length = 8;
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(static_cast<std::size_t>(batch * length));
    // cache begins
    cudag::CaptureCache cache({.warm_up = 2, .capacity = 16});
    for (int i = 0; i < 10; ++i) // two eager runs, a capture, seven replays
        cache.run(stream, std::tuple(batch, length), [&](cudaStream_t s) { decode(s, batch, length, x); });
    std::puts(to_string(cache.report()).c_str());
    // cache ends
    stream.synchronize();
    expect(static_cast<float>(cache.stats().replays), 7, "the number of replays");
}

void crowded() {
    const int length = 8;
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(static_cast<std::size_t>(5 * length));
    // crowded begins
    cudag::CaptureCache cache({.capacity = 4});
    for (int i = 0; i < 250; ++i) { // five batch sizes in turn
        const int batch = 1 + i % 5;
        cache.run(stream, batch, [&](cudaStream_t s) { decode(s, batch, length, x); });
    }
    const cudag::CaptureCacheStats stats = cache.stats();
    std::printf("%llu of 250 calls replayed, %llu eager for lack of room; capacity %zu would keep all\n",
                static_cast<unsigned long long>(stats.replays), static_cast<unsigned long long>(stats.crowded_runs),
                stats.needed_capacity());
    // crowded ends
    stream.synchronize();
    expect(static_cast<float>(stats.replays), 188, "the number of replays");
}

void three_streams() {
    constexpr std::size_t most = 64;
    const cudag::LaunchConfig config = cudag::grid_1d(most, 64);
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(most), y(most), sum(most);
    cudag::PinnedBuffer<float> host_x(most), host_y(most), host_sum(most);
    for (std::size_t i = 0; i < most; ++i) {
        host_x[i] = 1;
        host_y[i] = 2;
    }
    // streams begins
    cudag::Stream left, right;
    cudag::CaptureCache cache({.warm_up = 1, .capacity = 8});
    for (const int count : {16, 64, 16, 64, 16, 64}) // a graph for each size
        cache.run(stream, count, [&, count](cudag::Steps& steps) {
            const auto part = [&](const auto& all) { return all.span().subspan(0, static_cast<std::size_t>(count)); };
            steps.fork(left);
            steps.fork(right);
            cudag::memcpy_async(left, part(x), part(host_x));
            cudag::launch(left, config, scale, count, 3.0f, part(x));
            cudag::memcpy_async(right, part(y), part(host_y)); // beside the work in `left`
            steps.join(left);
            steps.join(right);
            steps.step("add", [&](cudaStream_t s) {
                cudag::launch(s, config, add, count, part(x), part(y), part(sum));
                cudag::memcpy_async(s, part(host_sum), part(sum));
            });
        });
    stream.synchronize(); // 2 eager runs, 2 captures, 2 replays
    // streams ends
    expect(host_sum[most - 1], 5, "the sum of three streams");
    expect(static_cast<float>(cache.stats().replays), 2, "the number of replays");
}

} // namespace

void capture() {
    mixed();
    captured_by_others();
    once();
    cached_captures();
    crowded();
    three_streams();
}

} // namespace pages
