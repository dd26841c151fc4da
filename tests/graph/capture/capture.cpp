// capture(): stream code becomes a Graph.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>

#include "usable.hpp"
#include "watched.hpp"

using cudag::capture;
using cudag::Captured;
using cudag::CaptureError;
using cudag::CaptureStatus;
using cudag::DeviceBuffer;
using cudag::Edge;
using cudag::Graph;
using cudag::launch;
using cudag::NodeKind;
using cudag::Stream;
using cudag::StreamCapture;

TEST_CASE("captured work runs at each launch, not at the capture", "[capture]") {
    const auto cells = device({1, 2});
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        launch(s, {}, add, cells.data(), cells.data() + 1, 10);
        launch(s, {}, add, cells.data() + 1, cells.data(), 100);
    });
    stream.synchronize();
    CHECK(read(cells) == std::vector{1, 2});

    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{12, 112});
    run(exec, stream);
    CHECK(read(cells) == std::vector{122, 222});
}

TEST_CASE("captured work has the nodes and edges of its stream's order", "[capture]") {
    const DeviceBuffer<int> cells(4);
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        cudag::memset_async(s, cells, 7);
        launch(s, {}, store, cells.data(), 1);
        launch(s, {}, store, cells.data() + 1, 2);
    });
    const auto nodes = graph.nodes();
    REQUIRE(nodes.size() == 3);
    CHECK(nodes[0].kind() == NodeKind::memset);
    CHECK(nodes[1].kind() == NodeKind::kernel);
    CHECK(nodes[2].kind() == NodeKind::kernel);
    CHECK(graph.edges() == std::vector<Edge>{{nodes[0], nodes[1]}, {nodes[1], nodes[2]}});
}

TEST_CASE("a captured kernel is found, and updated in an exec", "[capture]") {
    const auto cell = device({0});
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 1); });
    const auto found = graph.find(store);
    REQUIRE(found.size() == 1);
    cudag::Exec exec = graph.instantiate();
    exec.update(found[0], cudag::arg<1>(9));
    run(exec, stream);
    CHECK(read(cell) == std::vector{9});
}

TEST_CASE("the value of a captured function comes with the graph", "[capture]") {
    const DeviceBuffer<int> cell(1);
    const Stream stream;
    auto [graph, output] = capture(stream, [&](cudaStream_t s) {
        launch(s, {}, store, cell.data(), 3);
        return std::make_unique<int>(4); // moved out, once
    });
    CHECK(graph.node_count() == 1);
    CHECK(*output == 4);
}

TEST_CASE("a captured function may take the capture itself", "[capture]") {
    const DeviceBuffer<int> cell(1);
    const Stream stream;
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        CHECK(c.stream() == stream.get());
        CHECK(c.status() == CaptureStatus::active);
        launch(c.stream(), {}, store, cell.data(), 3);
        c.mark("stored");
    });
    CHECK(graph.find("stored").size() == 1);
}

TEST_CASE("what a captured function throws passes through, and the stream is usable", "[capture]") {
    const DeviceBuffer<int> cell(1);
    const Stream stream;
    CHECK_THROWS_AS(capture(stream,
                            [&](cudaStream_t s) {
                                launch(s, {}, store, cell.data(), 3);
                                throw std::out_of_range("half-way");
                            }),
                    std::out_of_range);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(is_usable(stream.get()));
}

TEST_CASE("a capture that is dropped without finish leaves the stream usable", "[capture]") {
    const DeviceBuffer<int> cell(1);
    const Stream stream;
    {
        const StreamCapture dropped(stream);
        launch(stream, {}, store, cell.data(), 3);
    }
    CHECK(is_usable(stream.get()));
    CHECK(capture(stream, [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 3); }).node_count() == 1);
}

TEST_CASE("a capture is active until finish, and finishes once", "[capture]") {
    const Stream stream;
    StreamCapture capture(stream);
    CHECK(capture.status() == CaptureStatus::active);
    launch(stream, {}, nothing);
    const Graph graph = std::move(capture).finish();
    CHECK(capture.status() == CaptureStatus::none);
    const auto error = refused<CaptureError>([&] { static_cast<void>(std::move(capture).finish()); });
    CHECK_THAT(error.what(), ContainsSubstring("finish: the capture has ended already: finish() is called once"));
}

TEST_CASE("retained owners live as long as the captured graph and its execs", "[capture]") {
    const Stream stream;
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = owner;
    {
        std::optional<cudag::Exec> exec;
        {
            const Graph graph = capture(stream, [&](StreamCapture& c) { c.retain(std::exchange(owner, nullptr)); },
                                        {.allow_empty = true});
            CHECK_FALSE(watch.expired());
            exec = graph.instantiate();
        }
        CHECK_FALSE(watch.expired());
        run(*exec, stream);
    }
    CHECK(released(watch, stream));
}

TEST_CASE("retained owners go with a capture that is dropped", "[capture]") {
    const Stream stream;
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = owner;
    {
        StreamCapture dropped(stream);
        dropped.retain(std::exchange(owner, nullptr));
    }
    CHECK(watch.expired());
}

TEST_CASE("a captured graph outlives its stream", "[capture]") {
    const auto cell = device({0});
    std::optional<Graph> graph;
    {
        const Stream stream;
        graph = capture(stream, [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 6); });
    }
    cudag::Exec exec = graph->instantiate();
    run(exec, Stream());
    CHECK(read(cell) == std::vector{6});
}

TEST_CASE("an exec is updated by a new capture of the same work", "[capture]") {
    const auto cell = device({0});
    const Stream stream;
    const auto recorded = [&](int value) {
        return capture(stream, [&](cudaStream_t s) { launch(s, {}, store, cell.data(), value); });
    };
    cudag::Exec exec = recorded(1).instantiate();
    const cudag::UpdateReport report = exec.update(recorded(2));
    CHECK(report.updated());
    run(exec, stream);
    CHECK(read(cell) == std::vector{2});
}

TEST_CASE("owners given to stream work are kept by the graph that records it", "[capture]") {
    const Stream stream;
    auto to = std::make_shared<DeviceBuffer<int>>(1);
    auto from = std::make_shared<DeviceBuffer<int>>(1);
    auto host = std::make_shared<cudag::PinnedBuffer<int>>(1);
    *host->data() = 30;
    const std::array<std::weak_ptr<void>, 3> memory{to->owner(), from->owner(), host->owner()};
    const auto is_alive = [](const std::weak_ptr<void>& one) { return !one.expired(); };
    const auto result = std::make_shared<DeviceBuffer<int>>(1);
    {
        std::optional<Graph> graph = capture(stream, [&](cudaStream_t s) {
            cudag::memcpy_async(s, from, host);
            cudag::memset_async(s, to, 5);
            launch(s, {}, add, to, from, 4);
            cudag::memcpy_async(s, result, to);
        });
        to.reset(), from.reset(), host.reset();
        CHECK(std::all_of(memory.begin(), memory.end(), is_alive));
        cudag::Exec exec = graph->instantiate();
        graph.reset();
        run(exec, stream);
        CHECK(read(*result) == std::vector{34});
        CHECK(std::all_of(memory.begin(), memory.end(), is_alive));
    }
    for (const auto& watch : memory)
        CHECK(released(watch, stream));
}

TEST_CASE("owners given to stream work that runs at once are borrowed", "[capture]") {
    const Stream stream;
    auto cell = std::make_shared<DeviceBuffer<int>>(1);
    const std::weak_ptr<DeviceBuffer<int>> watch = cell;
    launch(stream, {}, store, cell, 1);
    stream.synchronize();
    cell.reset();
    CHECK(watch.expired());
}
