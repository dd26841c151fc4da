// docs/graph-text.md: a graph as text, a difference from it, and the graph again in another process.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>
#include <cudag/graph_text.hpp>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace pages {

void text() {
    // write begins
    constexpr int n = 64;
    std::vector<float> host(n, 1.0f);
    cudag::DeviceBuffer<float> x(n);
    const auto step = [&](float factor) {
        cudag::GraphBuilder b;
        auto up = b.memcpy(x, host).label("upload");
        b.kernel({.block = n}, scale, n, factor, x).label("double").after(up);
        return std::move(b).build();
    };
    cudag::GraphNames names;
    names.memory("host", host).memory("x", x).kernel(scale);
    std::string golden = to_text(step(2.0f), names); // to be kept in a file
    // write ends
    std::fputs(golden.c_str(), stdout);
    // diff begins
    for (const cudag::Difference& difference : cudag::diff(step(3.0f), golden, names))
        std::printf("%s: %s, not %s\n", difference.field.c_str(), difference.old_value.c_str(),
                    difference.new_value.c_str());
    // diff ends
    // load begins
    std::vector<float> input(n, 4.0f);
    cudag::DeviceBuffer<float> y(n);
    cudag::GraphNames here; // as in another process: other memory, the same kernels
    here.memory("host", input).memory("x", y).kernel(scale);
    auto [graph, plan] = cudag::load(golden, here);
    cudag::Exec exec = graph.instantiate({.plan = plan});
    cudag::Stream stream;
    exec.launch(stream);
    // load ends
    stream.synchronize();
    std::vector<float> result(n);
    cudag::check(cudaMemcpy(result.data(), y.data(), y.span().size_bytes(), cudaMemcpyDeviceToHost));
    expect(result[n - 1], 8.0f, "the loaded graph's result");
    expect(static_cast<float>(cudag::diff(graph, golden, here).size()), 0.0f, "differences of the loaded graph");
}

} // namespace pages
