// docs/tracing.md: an observer, a name, and the variables that write logs, pictures and labels.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>
#include <cudag/observer.hpp>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace pages {

namespace {

cudag::Graph decode(cudag::DeviceBuffer<float>& x, std::vector<float>& host) {
    const int n = static_cast<int>(host.size());
    // name begins
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.memcpy(x, host).label("upload");
    b.kernel(cudag::grid_1d(host.size(), 256), scale, n, 2.0f, x).label("double");
    b.kernel(cudag::grid_1d(host.size(), 256), scale, n, 3.0f, x).label("triple");
    b.memcpy(host, x).label("download");
    cudag::Graph graph = std::move(b).build().name("decode");
    // name ends
    return graph;
}

} // namespace

void tracing() {
    std::vector<float> host(1024, 1.0f);
    cudag::DeviceBuffer<float> x(1024);
    // observer begins
    cudag::Observer former = cudag::set_observer([&](const cudag::Observation& event) {
        if (const auto* made = event.find<cudag::ObservedInstantiation>())
            std::printf("%zu nodes instantiated\n", made->nodes);
        if (event.find<cudag::ObservedRefusal>() || event.find<cudag::ObservedFailure>())
            std::fprintf(stderr, "%s\n", to_string(event).c_str());
    });
    // observer ends
    const cudag::Graph graph = decode(x, host);
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    exec.launch(stream);
    stream.synchronize();
    expect(host.front(), 6.0f, "the result");
    expect(exec.update(decode(x, host)).updated() ? 1.0f : 0.0f, 1.0f, "the update");
    cudag::set_observer(std::move(former));
}

} // namespace pages
