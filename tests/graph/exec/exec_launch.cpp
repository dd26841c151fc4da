// Launching: streams, replays, independence, and options.
#include <optional>

#include "gate.hpp"

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::InstantiateError;
using cudag::Stream;

namespace {

/// Adds 1 to a counter, and writes `value` to a cell.
struct Counter {
    DeviceBuffer<unsigned> count = device({0U});
    DeviceBuffer<unsigned> weights = device({0U});
    cudag::KernelNode<unsigned*, unsigned*, unsigned> node;
    Graph graph = build();

    unsigned launches() const { return read(count).front(); }
    unsigned weight() const { return read(weights).front(); }

  private:
    Graph build() {
        GraphBuilder b;
        node = b.kernel({}, count_threads, count, weights, 1).label("count");
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("an exec launches in a Stream and in a raw stream", "[exec]") {
    const Counter counter;
    Exec exec = counter.graph.instantiate();
    const Stream stream;
    exec.launch(stream);
    cudaStream_t raw = stream.get();
    exec.launch(raw);
    stream.synchronize();
    CHECK(counter.launches() == 2);
}

TEST_CASE("an exec launches in the default stream", "[exec]") {
    const Counter counter;
    Exec exec = counter.graph.instantiate();
    cudaStream_t legacy = nullptr;
    exec.launch(legacy);
    cudag::check(cudaStreamSynchronize(nullptr));
    CHECK(counter.launches() == 1);
}

TEST_CASE("replays counts the launches of one exec", "[exec]") {
    const Counter counter;
    Exec first = counter.graph.instantiate();
    Exec second = counter.graph.instantiate();
    const Stream stream;
    CHECK(first.replays() == 0);
    for (int i = 0; i < 5; ++i)
        first.launch(stream);
    second.launch(stream);
    CHECK(first.replays() == 5);
    CHECK(second.replays() == 1);
    stream.synchronize();
    CHECK(counter.launches() == 6);
}

TEST_CASE("launches of one exec in two streams follow each other", "[exec]") {
    const cudag::PinnedBuffer<int> cells(2);
    std::fill(cells.begin(), cells.end(), 0);
    const Stream first;
    const Stream second;
    GraphBuilder b;
    int* const p = cells.data();
    Gate gate;
    const auto wait = b.host(gate.node());
    b.kernel({}, add, p, p, 1).after(wait);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.launch(first);
    gate.wait_until_entered();
    exec.launch(second);
    CHECK_FALSE(first.query());
    CHECK_FALSE(second.query());
    gate.open();
    second.synchronize();
    CHECK(cells[0] == 2);
}

TEST_CASE("two execs of one graph are updated independently", "[exec]") {
    const Counter counter;
    Exec first = counter.graph.instantiate();
    Exec second = counter.graph.instantiate();
    first.update(counter.node, cudag::arg<2>(10));
    const Stream stream;
    run(first, stream);
    CHECK(counter.weight() == 10);
    run(second, stream);
    CHECK(counter.weight() == 11);
}

TEST_CASE("an update leaves the graph as it is", "[exec]") {
    const Counter counter;
    Exec first = counter.graph.instantiate();
    first.update(counter.node, cudag::arg<2>(10));
    Exec second = counter.graph.instantiate();
    const Stream stream;
    run(second, stream);
    CHECK(counter.weight() == 1);
}

TEST_CASE("an exec launches and is updated when its graph is gone", "[exec]") {
    std::optional<Counter> counter(std::in_place);
    Exec exec = counter->graph.instantiate();
    const auto node = counter->node;
    { const Graph gone = std::move(counter->graph); }
    const Stream stream;
    run(exec, stream);
    CHECK(counter->weight() == 1);
    exec.update(node, cudag::arg<2>(4));
    run(exec, stream);
    CHECK(counter->weight() == 5);
    CHECK(node.label() == "count");
}

TEST_CASE("uploading runs no node", "[exec]") {
    const Counter counter;
    Exec exec = counter.graph.instantiate();
    const Stream stream;
    exec.upload(stream);
    stream.synchronize();
    CHECK(counter.launches() == 0);
    CHECK(exec.replays() == 0);
    run(exec, stream);
    CHECK(counter.launches() == 1);
}

TEST_CASE("instantiate can upload at once", "[exec]") {
    const Counter counter;
    const Stream stream;
    Exec exec = counter.graph.instantiate({.upload_stream = stream});
    stream.synchronize();
    CHECK(counter.launches() == 0);
    run(exec, stream);
    CHECK(counter.launches() == 1);
}

TEST_CASE("CUDA gets the options of instantiate", "[exec]") {
    const Counter counter;
    const auto flags = [](const Exec& exec) {
        unsigned long long value = 0;
        cudag::check(cudaGraphExecGetFlags(exec.native(), &value));
        return value;
    };
    CHECK(flags(counter.graph.instantiate()) == 0);
    CHECK(flags(counter.graph.instantiate({.auto_free_on_launch = true})) == cudaGraphInstantiateFlagAutoFreeOnLaunch);
    CHECK(flags(counter.graph.instantiate({.device_launch = true})) == cudaGraphInstantiateFlagDeviceLaunch);
    CHECK_NOTHROW(counter.graph.instantiate({.use_node_priority = true}));
}

TEST_CASE("freeing on launch and launching from the device exclude each other", "[exec]") {
    const Counter counter;
    const auto error = refused<InstantiateError>(
        [&] { static_cast<void>(counter.graph.instantiate({.auto_free_on_launch = true, .device_launch = true})); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(error.operation().empty());
    CHECK_THAT(error.what(), ContainsSubstring("auto_free_on_launch") && ContainsSubstring("device_launch"));
}

TEST_CASE("a device launch of a graph with a host node is refused by label", "[exec]") {
    GraphBuilder b;
    const auto kernel = b.kernel({}, nothing).label("fine");
    const auto host = b.host([] {}).label("on the host").after(kernel);
    const Graph graph = std::move(b).build();
    const auto error =
        refused<InstantiateError>([&] { static_cast<void>(graph.instantiate({.device_launch = true})); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(error.operation().empty());
    CHECK(error.labels() == Labels{"on the host"});
    CHECK(error.location().line == host.location().line);
    CHECK_THAT(error.what(), ContainsSubstring("host \"on the host\"") && ContainsSubstring("device-launched"));
    CHECK_NOTHROW(graph.instantiate());
}

TEST_CASE("an exec that was moved from is refused", "[exec][handles]") {
    const Counter counter;
    Exec first = counter.graph.instantiate();
    Exec second = std::move(first);
    const Stream stream;
    CHECK_THAT(refused<cudag::GraphError>([&] { first.launch(stream); }).what(), ContainsSubstring("moved-from Exec"));
    static_cast<void>(refused<cudag::GraphError>([&] { first.upload(stream); }));
    static_cast<void>(refused<cudag::GraphError>([&] { first.update(counter.node, cudag::arg<2>(1)); }));
    static_cast<void>(refused<cudag::GraphError>([&] { first.disable(counter.node); }));
    static_cast<void>(refused<cudag::GraphError>([&] { static_cast<void>(first.is_enabled(counter.node)); }));
    static_cast<void>(refused<cudag::GraphError>([&] { static_cast<void>(first.replays()); }));
    static_cast<void>(refused<cudag::GraphError>([&] { static_cast<void>(first.native()); }));

    run(second, stream);
    first = std::move(second);
    run(first, stream);
    CHECK(first.replays() == 2);
    CHECK(counter.launches() == 2);
}

TEST_CASE("an exec is uploaded until it is updated", "[exec]") {
    const auto cell = device({0});
    GraphBuilder b;
    const auto node = b.kernel({}, store, cell, 1);
    const Graph graph = std::move(b).build();
    const Stream stream;
    CHECK(graph.instantiate({.upload_stream = stream}).is_uploaded());
    Exec exec = graph.instantiate();
    CHECK_FALSE(exec.is_uploaded());
    exec.upload(stream);
    CHECK(exec.is_uploaded());
    exec.update(node, cudag::arg<1>(2));
    CHECK_FALSE(exec.is_uploaded());
    run(exec, stream);
    CHECK(exec.is_uploaded());
    CHECK(exec.update(graph).updated());
    CHECK_FALSE(exec.is_uploaded());
}
