// docs/races.md: a race that build() refuses, declared accesses, inferred edges, and a relaxed capture.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <cstdio>
#include <numeric>
#include <utility>

namespace pages {
namespace {

void refused() {
    const int n = 100;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 64);
    cudag::DeviceBuffer<float> x(n);
    cudag::PinnedBuffer<float> host(n);
    // refused begins
    cudag::GraphBuilder b;
    b.kernel(config, scale, n, 2.0f, x).label("double");
    b.memcpy(host, x).label("download"); // without .after
    try {
        cudag::Graph graph = std::move(b).build();
    } catch (const cudag::RaceError& race) {
        std::puts(race.what());
    }
    // refused ends
    try {
        b.check(); // unchanged by the refusal
    } catch (const cudag::RaceError&) {
        return;
    }
    throw std::runtime_error("the race was not refused");
}

void declared() {
    const int n = 100;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 64);
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n), sum(n);
    cudag::PinnedBuffer<float> host(n);
    float total = 0;
    // declared begins
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f);
    auto twos = b.memset(y, 2.0f);
    auto added = b.kernel(config, add, n, cudag::in(x), y, cudag::out(sum)).after(ones, twos);
    auto down = b.memcpy(host, sum).after(added);
    b.host([&] { total = std::accumulate(host.begin(), host.end(), 0.0f); })
        .reads(host) // without it, the host node is untracked
        .after(down);
    // declared ends
    std::move(b).build().instantiate().launch(stream);
    stream.synchronize();
    expect(total, 3.0f * n, "total");
}

void inferred() {
    const int n = 100;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 64);
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n), sum(n);
    cudag::PinnedBuffer<float> host(n);
    // inferred begins
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.memset(x, 1.0f);
    b.memset(y, 2.0f);                   // concurrent with the first fill
    b.kernel(config, add, n, x, y, sum); // after both fills
    b.memcpy(host, sum);                 // after the kernel
    cudag::Graph graph = std::move(b).build();
    // inferred ends
    picture("inferred", graph.dot());
    graph.instantiate().launch(stream);
    stream.synchronize();
    expect(host[0], 3, "the sum by inferred edges");
    expect(static_cast<float>(graph.edge_count()), 3, "the number of inferred edges");
}

void relaxed() {
    const int n = 100;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 64);
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n);
    const auto line = [&](cudaStream_t s) {
        cudag::memset_async(s, x, 1.0f);
        cudag::launch(s, config, scale, n, 2.0f, x);
        cudag::memset_async(s, y, 1.0f);
        cudag::launch(s, config, scale, n, 3.0f, y);
    };
    picture("line", cudag::capture(stream, line).dot());
    // relaxed begins
    cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) { // one stream: a line of four nodes
        cudag::memset_async(s, x, 1.0f);
        cudag::launch(s, config, scale, n, 2.0f, x);
        cudag::memset_async(s, y, 1.0f);
        cudag::launch(s, config, scale, n, 3.0f, y);
    });
    cudag::RelaxReport report = cudag::relax(graph); // now two branches of two nodes
    std::puts(to_string(report).c_str());
    // relaxed ends
    picture("relaxed", graph.dot());
    expect(static_cast<float>(report.longest_path_after), 2, "the longest path");
}

} // namespace

void races() {
    refused();
    declared();
    inferred();
    relaxed();
}

} // namespace pages
