// The example of docs/capture.md: existing stream code as a graph, updated like one that was built.
#include "existing.hpp"

#include <cudag/cudag.hpp>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <vector>

namespace {

bool run() {
    const int n = 1'000'000;
    std::vector<float> host_x(n, 1.0f);
    cudag::PinnedBuffer<float> host_total(1);
    cudag::DeviceBuffer<float> x(n), y(n), total(1);
    cudag::DeviceBuffer<std::byte> scratch(scratch_for(n));

    // capture begins
    cudag::Stream stream;
    cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
        c.step("upload", [&](cudaStream_t s) { cudag::memcpy_async(s, x, host_x); });
        c.step("blur", [&](cudaStream_t s) { blurred(s, n, x.data(), y.data()); });
        c.step("sum", [&](cudaStream_t s) { sum(s, n, y.data(), total.data(), scratch.data(), scratch.size()); });
        c.step("download", [&](cudaStream_t s) { cudag::memcpy_async(s, host_total, total); });
    });
    auto node = graph.find_one(blur); // typed again: KernelNode<int, float, const float*, float*>
    cudag::Exec exec = graph.instantiate();
    exec.update(node, cudag::arg<1>(0.5f));
    exec.launch(stream);
    stream.synchronize(); // host_total = 0.5 * (3 * n - 2)
    // capture ends

    std::printf("total = %.1f\n", static_cast<double>(host_total.data()[0]));
    return host_total.data()[0] == 0.5f * (3 * n - 2);
}

} // namespace

int main() {
    try {
        return run() && std::fflush(stdout) == 0 ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
