// docs/probe.md: probes in a built and in a captured graph, what they find, and how they are switched off.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>
#include <cudag/probe.hpp>

#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

namespace pages {

void probe() {
    constexpr int n = 1 << 10;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
    const cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    cudag::PinnedBuffer<float> result(n);
    // graph begins
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f).label("ones");
    auto tripled = b.kernel(config, scale, n, 3.0f, x).label("triple").after(ones);
    cudag::Probe range = cudag::probe(b, x, cudag::in_range(0.0f, 2.0f)).label("tripled").after(tripled);
    auto halved = b.kernel(config, scale, n, 0.5f, x).label("halve").after(range.reader());
    b.memcpy(result, x).after(halved);
    const cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    // graph ends
    // failure begins
    exec.launch(stream);
    try {
        stream.synchronize();
    } catch (const cudag::HostError& error) {
        std::puts(error.what());
    }
    for (const cudag::ProbeFailure& failure : range.failures())
        std::printf("%s: element %zu was %s\n", failure.label.c_str(), failure.index, failure.value.c_str());
    // failure ends
    expect(static_cast<float>(range.failures().size()), 1, "failures");
    // disable begins
    range.disable(exec); // and range.enable(exec)
    exec.launch(stream);
    stream.synchronize();
    // disable ends
    expect(static_cast<float>(range.runs()), 1, "runs");
    expect(result[7], 1.5f, "the result");
    // capture begins
    std::vector<std::uint64_t> sums;
    const cudag::Graph captured = cudag::capture(stream, [&](cudag::StreamCapture& c) {
        cudag::memset_async(stream, x, 2.0f);
        cudag::probe(c, x, cudag::print(4)).label("twos");
        cudag::launch(stream, config, scale, n, 3.0f, x);
        cudag::probe(c, x, cudag::checksum([&](std::uint64_t sum) { sums.push_back(sum); }));
        cudag::probe(c, x, [](std::span<const float> values) { return values[0] == values[1]; }).label("equal");
    });
    cudag::Exec replay = captured.instantiate();
    for (int launch = 0; launch < 2; ++launch)
        replay.launch(stream);
    stream.synchronize();
    // capture ends
    expect(static_cast<float>(sums.size()), 2, "sums");
    expect(sums[0] == sums[1] ? 1 : 0, 1, "equality of the sums");
}

} // namespace pages
