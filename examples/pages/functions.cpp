// docs/functions.md: a graph called like a function, two sets of buffers in turn, and one body for graph, capture and
// stream.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>
#include <cudag/eager_builder.hpp>
#include <cudag/graph_function.hpp>

#include <utility>
#include <vector>

namespace pages {

namespace {

float first_of(const cudag::Stream& stream, const cudag::DeviceBuffer<float>& x) {
    float value = 0;
    stream.synchronize();
    cudag::check(cudaMemcpy(&value, x.data(), sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

} // namespace

void functions() {
    constexpr int n = 1 << 10;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
    const cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n), z(n);
    cudag::memset_async(stream, x, 1.0f);
    // function begins
    using cudag::In, cudag::Out, cudag::Named;
    const auto body = [&](auto& b, const auto& from, const auto& to, const auto& factor) {
        auto copied = b.memcpy(to, from).label("copy");
        b.kernel(config, scale, n, factor, to).label("scale").after(copied);
    };
    cudag::GraphFunction<void(In<float>, Out<float>, Named<"factor", float>)> scaled(body, x, y, 2.0f);

    scaled(stream, x, y, 2.0f);                  // a launch
    scaled(stream, y, z, 2.0f);                  // bind, and a launch
    scaled(stream, cudag::arg<"factor">(10.0f)); // from y to z again
    // function ends
    expect(first_of(stream, z), 20.0f, "the scaled values");
    // turns begins
    cudag::GraphFunction<void(In<float>, Out<float>, float)> step({.execs = 2}, body, x, y, 2.0f);
    for (int i = 0; i < 3; ++i) {
        step(stream, x, y, 2.0f);
        step(stream, y, x, 2.0f); // the second Exec: from here on nothing is bound
    }
    // turns ends
    expect(first_of(stream, x), 64.0f, "the value after six steps");
    // eager begins
    cudag::EagerBuilder eager(stream);
    body(eager, x, y, 0.5f); // in the stream, without a graph
    cudag::Graph captured =
        cudag::capture(stream, [&](cudaStream_t) { body(eager, x, y, 0.5f); }); // in a capture of the stream
    // eager ends
    expect(first_of(stream, y), 32.0f, "the value after an eager run");
    expect(static_cast<float>(captured.nodes().size()), 2.0f, "nodes of the capture");
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    body(b, x, y, 1.0f);
    picture("function", std::move(b).build().dot());
}

} // namespace pages
