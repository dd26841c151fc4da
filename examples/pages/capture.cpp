// docs/capture.md: nodes written into a capture, capture_or_run, and a cache of captured graphs by key.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

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

} // namespace

void capture() {
    mixed();
    once();
    cached_captures();
}

} // namespace pages
