// docs/errors.md: mistakes, and the errors that report them.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <cstdio>
#include <utility>

namespace pages {
namespace {

/// Calls `mistake`, which must throw, and prints the text of the Error.
template <class Mistake>
void report(Mistake&& mistake) {
    try {
        mistake();
    } catch (const cudag::Error& error) {
        std::puts(error.what());
        return;
    }
    throw std::runtime_error("a mistake was not reported");
}

} // namespace

void errors() {
    const int n = 100;
    cudag::DeviceBuffer<float> x(n);
    cudag::PinnedBuffer<float> host(n), few(10);
    cudag::Stream stream;
    // errors begins
    cudag::GraphBuilder b;
    report([&] { b.kernel({.grid = 1, .block = 2048}, scale, n, 2.0f, x); });
    report([&] { b.memcpy(x, few); });

    auto up = b.memcpy(x, host).label("upload");
    auto twice = b.kernel(cudag::grid_1d(n, 64), scale, n, 2.0f, x).label("double").after(up);
    auto down = b.memcpy(host, x).label("download").after(twice);
    up.after(down);
    report([&] { cudag::Graph graph = std::move(b).build(); });

    report([&] {
        cudag::Graph graph = cudag::capture(
            stream, [&](cudag::StreamCapture& c) { c.step("dot", [&](cudaStream_t s) { cudaStreamSynchronize(s); }); });
    });
    // errors ends
}

} // namespace pages
