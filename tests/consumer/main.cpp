// A consumer's program: one graph, launched twice with an update between, its result checked.
#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

namespace {

constexpr int n = 1000;

bool run() {
    std::vector<float> host_x(n, 1.0f), host_y(n, 0.5f);
    cudag::DeviceBuffer<float> x(n), y(n);

    cudag::GraphBuilder builder;
    auto up_x = builder.memcpy(x, host_x).label("upload x");
    auto up_y = builder.memcpy(y, host_y).label("upload y");
    auto axpy = builder.kernel(cudag::grid_1d(n, 256), saxpy, n, 2.0f, x, y).after(up_x, up_y);
    builder.memcpy(host_y, y).after(axpy);

    cudag::Graph graph = std::move(builder).build();
    cudag::Exec exec = graph.instantiate();
    cudag::Stream stream;
    exec.launch(stream);  // y = 2 * 1 + 0.5
    stream.synchronize(); // the next launch reads host_y, pageable memory, at once
    exec.update(axpy, cudag::arg<1>(3.0f));
    exec.launch(stream); // y = 3 * 1 + 2.5
    stream.synchronize();

    const auto right = std::count(host_y.begin(), host_y.end(), 5.5f);
    std::printf("consumer: %d of %d values right\n", static_cast<int>(right), n);
    return right == n;
}

} // namespace

int main() {
    try {
        return run() ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
