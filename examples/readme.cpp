// The README's example: two uploads, a kernel and a download as a graph, launched, updated, launched again.
#include "readme_kernels.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

namespace {

bool run() {
    // README begins
    const int n = 1'000'000;
    std::vector<float> host_x(n, 1.0f), host_y(n, 2.0f);
    cudag::DeviceBuffer<float> x(n), y(n);

    cudag::GraphBuilder b;
    auto up_x = b.memcpy(x, host_x).label("upload x");
    auto up_y = b.memcpy(y, host_y).label("upload y");
    auto axpy = b.kernel(cudag::grid_1d(n, 256), saxpy, n, 2.0f, x, y).after(up_x, up_y);
    b.memcpy(host_y, y).label("download").after(axpy);

    cudag::Exec exec = std::move(b).build().instantiate();
    cudag::Stream stream;
    exec.launch(stream);
    stream.synchronize();                   // host_y = 2 * 1 + 2 = 4
    exec.update(axpy, cudag::arg<1>(3.0f)); // one argument; a wrong type or index does not compile
    exec.launch(stream);
    stream.synchronize(); // host_y = 3 * 1 + 4 = 7
    // README ends

    std::printf("y[0] = %g, y[n - 1] = %g\n", static_cast<double>(host_y.front()), static_cast<double>(host_y.back()));
    return std::count(host_y.begin(), host_y.end(), 7.0f) == n;
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
