// docs/first-graph.md: a first graph, launched, changed, and with a mistake.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <cstdio>
#include <utility>

namespace pages {

void first() {
    // memory begins
    const int n = 1000;
    cudag::DeviceBuffer<float> x(n), y(n), sum(n); // device memory, owned
    cudag::PinnedBuffer<float> host(n);            // page-locked host memory: fast copies
    cudag::Stream stream;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256); // enough blocks of 256 threads
    // memory ends

    // graph begins
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f).label("ones");
    auto twos = b.memset(y, 2.0f).label("twos");
    auto scaled = b.kernel(config, scale, n, 3.0f, x).label("scale").after(ones);
    auto added = b.kernel(config, add, n, x, y, sum).label("add").after(scaled, twos);
    b.memcpy(host, sum).label("download").after(added);
    cudag::Graph graph = std::move(b).build(); // checks everything
    // graph ends
    picture("first", graph.dot());

    // launch begins
    cudag::Exec exec = graph.instantiate(); // expensive: once
    exec.launch(stream);                    // cheap: as often as you like
    stream.synchronize();
    std::printf("%g\n", static_cast<double>(host[0])); // 3 * 1 + 2
    // launch ends
    expect(host[0], 5, "the sum");

    // update begins
    exec.update(scaled, cudag::arg<1>(10.0f)); // the second argument of `scale`
    exec.launch(stream);
    stream.synchronize();
    std::printf("%g\n", static_cast<double>(host[0])); // 10 * 1 + 2
    // update ends
    expect(host[0], 12, "the sum after an update");

    // mistake begins
    cudag::GraphBuilder wrong;
    wrong.memset(x, 1.0f).label("ones");
    wrong.kernel(config, scale, n, 3.0f, x).label("scale"); // without .after
    try {
        cudag::Graph never = std::move(wrong).build();
    } catch (const cudag::Error& error) {
        std::puts(error.what());
    }
    // mistake ends
}

} // namespace pages
