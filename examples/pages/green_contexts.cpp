// docs/green-contexts.md: parts of a device's multiprocessors for branches of graphs.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>
#include <cudag/green_context.hpp>

#include <cstdio>
#include <utility>
#include <vector>

namespace pages {

namespace {

void branches() {
    constexpr int n = 256;
    const cudag::DeviceBuffer<float> urgent(n), bulk(n);
    std::vector<float> host(n);
    const cudag::Stream stream;
    // branches begins
    const auto parts = cudag::GreenContext::split({8, cudag::GreenContext::rest});
    cudag::GraphBuilder b;
    cudag::GraphBuilder few = b.on(parts[0]), others = b.on(parts[1]);
    auto zeros = few.memset(urgent, 1.0f).label("urgent input");
    auto quick = few.kernel(cudag::grid_1d(n, 256), scale, n, 2.0f, urgent).label("urgent").after(zeros);
    auto ones = others.memset(bulk, 1.0f).label("bulk input");
    auto slow = others.kernel(cudag::grid_1d(n, 256), scale, n, 3.0f, bulk).label("bulk").after(ones);
    auto both = b.kernel(cudag::grid_1d(n, 256), add, n, urgent, bulk, urgent).after(quick, slow); // on all
    b.memcpy(host, urgent).after(both);
    cudag::Exec exec = std::move(b).build().instantiate(); // keeps the contexts
    exec.launch(stream);
    // branches ends
    stream.synchronize();
    expect(host[0], 5.0f, "the sum");
    exec.update(quick, cudag::arg<1>(4.0f));
    exec.launch(stream);
    stream.synchronize();
    expect(host[0], 7.0f, "the sum after an update");
}

void streams() {
    constexpr int n = 256;
    const cudag::DeviceBuffer<float> x(n);
    // stream begins
    const cudag::GreenContext part(8);
    const cudag::Stream stream(part); // destroyed before the context
    cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        cudag::launch(s, cudag::grid_1d(n, 256), scale, n, 2.0f, x); // a node of the part
    });
    // stream ends
    cudag::Exec exec = graph.instantiate();
    exec.launch(stream);
    stream.synchronize();
}

void differences() {
    constexpr int n = 256;
    const cudag::DeviceBuffer<float> x(n);
    const auto parts = cudag::GreenContext::split({8, cudag::GreenContext::rest});
    const auto graph_on = [&](const cudag::GreenContext& part) {
        cudag::GraphBuilder b;
        b.on(part).kernel(cudag::grid_1d(n, 256), scale, n, 2.0f, x).label("scale");
        return std::move(b).build();
    };
    const cudag::Graph before = graph_on(parts[0]), after = graph_on(parts[1]);
    // diff begins
    for (const cudag::Difference& difference : cudag::diff(before, after))
        if (difference.field == "context" && difference.needs_instantiate) std::puts("another context: instantiate");
    // diff ends
}

} // namespace

void green_contexts() {
    branches();
    streams();
    differences();
}

} // namespace pages
