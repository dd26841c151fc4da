// The README's second example: existing stream code as a graph, updated like one that was built.
#include "readme_kernels.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <vector>

namespace {

/// Stands for code that knows nothing of cudag: it only gets a stream.
void existing_code(cudaStream_t stream, int n, const float* x, float* y) {
    cudag::launch(stream, cudag::grid_1d(static_cast<std::size_t>(n), 256), saxpy, n, 2.0f, x, y);
}

bool run() {
    const int n = 1'000'000;
    std::vector<float> host_x(n, 1.0f);
    cudag::PinnedBuffer<float> host_y(n);
    cudag::DeviceBuffer<float> x(n), y(n);

    // README begins
    cudag::Stream stream;
    cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
        c.step("inputs", [&](cudaStream_t s) {
            cudag::memcpy_async(s, x, host_x);
            cudag::memset_async(s, y, 0.0f);
        });
        c.step("axpy", [&](cudaStream_t s) { existing_code(s, n, x.data(), y.data()); });
        c.step("download", [&](cudaStream_t s) { cudag::memcpy_async(s, host_y, y); });
    });
    auto axpy = graph.find_one(saxpy); // typed again: KernelNode<int, float, const float*, float*>
    cudag::Exec exec = graph.instantiate();
    exec.update(axpy, cudag::arg<1>(3.0f));
    exec.launch(stream);
    stream.synchronize(); // host_y = 3 * 1 + 0
    // README ends

    std::printf("y[0] = %g, y[n - 1] = %g\n", static_cast<double>(host_y.data()[0]),
                static_cast<double>(host_y.data()[n - 1]));
    return std::count(host_y.data(), host_y.data() + n, 3.0f) == n;
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
