// Graphs that kernels launch, running.
#include "device_launch_kernels.hpp"
#include "test.hpp"

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;

namespace {

Graph counter(const cudag::DeviceBuffer<unsigned>& count) {
    GraphBuilder b;
    b.kernel({.grid = 2, .block = 32}, count_threads, count.data(), count.data() + 1, 1U);
    return std::move(b).build();
}

} // namespace

TEST_CASE("a kernel launches a graph in each of CUDA's ways", "[exec][device]") {
    const auto count = device({0U, 0U});
    const auto failures = device({0U});
    const Stream stream;
    const Graph launched_graph = counter(count);
    const Exec launched = launched_graph.instantiate({.device_launch = true, .upload_stream = stream});
    unsigned runs = 0;
    for (const DeviceLaunch how : {DeviceLaunch::fire_and_forget, DeviceLaunch::tail, DeviceLaunch::sibling}) {
        GraphBuilder b;
        b.kernel({}, launch_graph, launched.on_device(), how, failures);
        const Graph graph = std::move(b).build();
        Exec exec = graph.instantiate();
        run(exec, stream);
        cudag::check(cudaDeviceSynchronize());
        CAPTURE(static_cast<int>(how));
        CHECK(read(failures) == std::vector{0U});
        CHECK(read(count) == std::vector{64 * ++runs, 2 * runs});
    }
}

TEST_CASE("a graph launches itself again as its own tail", "[exec][device]") {
    const auto count = device({0U});
    const auto failures = device({0U});
    const Stream stream;
    GraphBuilder b;
    b.kernel({}, repeat, count, 5U, failures);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate({.device_launch = true, .upload_stream = stream});
    run(exec, stream);
    CHECK(read(failures) == std::vector{0U});
    CHECK(read(count) == std::vector{5U});
}

TEST_CASE("a kernel in a graph that only the host launches has no current graph", "[exec][device]") {
    const auto in_graph = device({7U});
    GraphBuilder b;
    b.kernel({}, look_for_current, in_graph);
    run(std::move(b));
    CHECK(read(in_graph) == std::vector{0U});
}
