// docs/segments.md: a program with breaks, its report, and an exception.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>
#include <cudag/segmented_graph.hpp>

#include <cstdio>
#include <stdexcept>

namespace pages {

void segments() {
    constexpr int n = 1 << 10;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
    const cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n);
    cudag::PinnedBuffer<float> host(1);
    // program begins
    float limit = 100.0f;
    int rounds = 0;
    cudag::SegmentedGraph program = cudag::capture_segments(stream, [&](cudag::StreamCapture& c) {
        c.step("triple", [&](cudaStream_t s) { cudag::launch(s, config, scale, n, 3.0f, x); });
        c.step("download", [&](cudaStream_t s) { cudag::memcpy_async(s, host, x.span().first(1)); });
        c.eager("look", [&](cudaStream_t s) { // runs in each launch, here with the values of the device
            cudag::check(cudaStreamSynchronize(s));
            if (host[0] > limit) cudag::memset_async(s, x, 1.0f);
            ++rounds;
        });
        c.step("add", [&](cudaStream_t s) { cudag::launch(s, config, add, n, x, x, y); });
    });
    cudag::memset_async(stream, x, 20.0f);
    program.launch(stream); // a graph of two nodes, the function, a graph of one node
    program.launch(stream);
    std::puts(to_string(program.report()).c_str());
    // program ends
    stream.synchronize();
    cudag::PinnedBuffer<float> result(n);
    cudag::memcpy_async(stream, result, y);
    stream.synchronize();
    expect(static_cast<float>(rounds), 2, "rounds");
    expect(result[7], 2, "twice the reset value");
    float sum = 0;
    // cache begins
    cudag::CaptureCache cache;
    for (int i = 1; i <= 10; ++i) { // two eager runs, a capture, seven replays of two graphs each
        float first = 0;
        cache.run(stream, n, [&](cudag::Steps& steps) {
            steps.step("double", [&](cudaStream_t s) { cudag::launch(s, config, scale, n, 2.0f, x); });
            steps.eager("look", [&](cudaStream_t s) {
                cudag::memcpy_async(s, host, x.span().first(1));
                cudag::check(cudaStreamSynchronize(s));
                first = host[0];
            });
            if (first > 100) return; // decided in each call: this break stands before the decision
            steps.step("add", [&](cudaStream_t s) { cudag::launch(s, config, add, n, x, x, y); });
        });
        sum += first;
    }
    // cache ends
    stream.synchronize();
    expect(sum, 2046, "the sum of the first elements"); // 2 + 4 + ... + 1024
    cudag::memcpy_async(stream, result, y);
    stream.synchronize();
    expect(result[0], 128, "twice the last element up to 100");
}

} // namespace pages
