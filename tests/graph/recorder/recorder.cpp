// The fault recorder: deadlines name the nodes that hang, and a recorded Exec works like any other.
#include <cudag/recorder.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "gate.hpp"
#include "native.hpp"
#include "test.hpp"

using cudag::DeadlineError;
using cudag::Error;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::InstantiateError;
using cudag::Stream;
using cudag::UnfinishedNode;

namespace {

using namespace std::chrono_literals;

constexpr auto moment = 20ms;

Labels labels_of(const std::vector<UnfinishedNode>& nodes) {
    Labels labels;
    for (const UnfinishedNode& node : nodes)
        labels.push_back(node.label);
    return labels;
}

DeadlineError late(const Stream& stream) {
    return refused<DeadlineError>([&] { stream.synchronize(moment); });
}

/// A line of nodes around a host node that waits for `gate`: *cell becomes 3.
Graph gated_line(Gate& gate, int* cell) {
    GraphBuilder b;
    auto first = b.kernel({}, store, cell, 1).label("first");
    auto stuck = b.host(gate.node()).label("stuck").after(first);
    b.kernel({}, add, cell, cell, 2).label("last").after(stuck);
    return std::move(b).build();
}

} // namespace

TEST_CASE("a deadline names the node that hangs, and the stream stays usable", "[recorder]") {
    const auto cell = device({0});
    const Stream stream;
    Gate gate;
    Exec exec = gated_line(gate, cell.data()).instantiate({.recorder = true});
    for (int launch = 0; launch < 2; ++launch) {
        exec.launch(stream);
        gate.wait_until_entered();
        const DeadlineError error = late(stream);
        REQUIRE(error.nodes().size() == 1);
        CHECK(error.nodes()[0].label == "stuck");
        CHECK(error.nodes()[0].kind == cudag::NodeKind::host);
        CHECK(error.nodes()[0].location.line != 0);
        CHECK(error.nodes()[0].outer.empty());
        CHECK(error.labels() == Labels{"stuck"});
        CHECK(error.code() == cuda_code(cudaErrorNotReady));
        CHECK_THAT(error.what(),
                   ContainsSubstring("the work has not finished within 0.02 s; nodes begun and not ended: "
                                     "host \"stuck\" at "));
        CHECK(labels_of(cudag::unfinished_nodes()) == Labels{"stuck"});

        gate.open();
        stream.synchronize(10min);
        CHECK(cudag::unfinished_nodes().empty());
        CHECK(read(cell) == std::vector{3});
        gate.close();
    }
}

TEST_CASE("a deadline without a recorder names no node, but the way to learn it", "[recorder]") {
    const auto cell = device({0});
    const Stream stream;
    Gate gate;
    Exec exec = gated_line(gate, cell.data()).instantiate();
    exec.launch(stream);
    const DeadlineError error = late(stream);
    CHECK(error.nodes().empty());
    CHECK_THAT(error.what(), ContainsSubstring("CUDAG_CHECK=recorder"));
    CHECK(refused<DeadlineError>([&] { stream.synchronize(-1s); }).nodes().empty());
    gate.open();
    stream.synchronize(10min);
}

TEST_CASE("a deadline reports host failures and captures as a synchronisation does", "[recorder]") {
    const Stream stream;
    GraphBuilder b;
    b.host([] { throw std::runtime_error("no"); });
    Exec exec = std::move(b).build().instantiate({.recorder = true});
    exec.launch(stream);
    CHECK_THROWS_AS(stream.synchronize(10min), cudag::HostError);
    stream.synchronize(std::chrono::duration<double>(600));

    CHECK_THROWS_AS(cudag::capture(stream, [&](cudaStream_t) { stream.synchronize(1s); }), cudag::CaptureError);
}

TEST_CASE("a hanging node inside child graphs has the nodes around it", "[recorder]") {
    const auto cell = device({0});
    const Stream stream;
    Gate gate;
    GraphBuilder layer;
    add_child(layer, gated_line(gate, cell.data())).label("line");
    GraphBuilder b;
    auto before = b.kernel({}, store, cell.data(), 0).label("before");
    add_child(b, std::move(layer).build()).label("layer").after(before);
    Exec exec = std::move(b).build().instantiate({.recorder = true});
    exec.launch(stream);
    gate.wait_until_entered();
    const DeadlineError error = late(stream);
    REQUIRE(labels_of(error.nodes()) == Labels{"stuck"});
    REQUIRE(error.nodes()[0].outer.size() == 2);
    CHECK_THAT(error.nodes()[0].outer[0], StartsWith("child \"layer\" at "));
    CHECK_THAT(error.nodes()[0].outer[1], StartsWith("child \"line\" inside child \"layer\" at "));
    CHECK_THAT(error.what(), ContainsSubstring("host \"stuck\" inside child \"line\" at ") &&
                                 ContainsSubstring(", inside child \"layer\" at "));
    gate.open();
    stream.synchronize();
    CHECK(read(cell) == std::vector{3});
}

TEST_CASE("a destroyed Exec is listed until its launch has ended", "[recorder]") {
    const auto cell = device({0});
    const Stream stream;
    Gate gate;
    {
        Exec exec = gated_line(gate, cell.data()).instantiate({.recorder = true});
        exec.launch(stream);
        gate.wait_until_entered();
    }
    CHECK(labels_of(late(stream).nodes()) == Labels{"stuck"});
    gate.open();
    stream.synchronize();
    CHECK(cudag::unfinished_nodes().empty());
}

TEST_CASE("a captured graph is recorded by the labels of its steps", "[recorder]") {
    const auto cell = device({0});
    const Stream stream;
    Gate gate;
    cudag::StreamCapture capture(stream);
    capture.step("first", [&](cudaStream_t s) { cudag::launch(s, {}, store, cell.data(), 1); });
    capture.step("held", [&](cudaStream_t s) {
        cudag::check(cudaLaunchHostFunc(
            s, [](void* held) { static_cast<Gate*>(held)->node()(); }, &gate));
    });
    capture.step("last", [&](cudaStream_t s) { cudag::launch(s, {}, add, cell.data(), cell.data(), 2); });
    Exec exec = std::move(capture).finish().instantiate({.recorder = true});
    exec.launch(stream);
    gate.wait_until_entered();
    CHECK(labels_of(late(stream).nodes()) == Labels{"held"});
    gate.open();
    stream.synchronize();
    CHECK(read(cell) == std::vector{3});
}

TEST_CASE("loops and branches run recorded as unrecorded", "[recorder]") {
    if (older_than(12080)) return;
    const auto cells = device({3, 2, 0});
    GraphBuilder b;
    const auto loop_condition = b.condition(1), branch = b.condition(1);
    auto loop = b.while_(loop_condition, [&](GraphBuilder& body) {
        auto more = body.kernel({}, add, cells.data() + 2, cells.data() + 2, 5).label("add");
        body.kernel({}, count_down, cells.data(), loop_condition).label("count").after(more);
    });
    b.if_(branch, [&](GraphBuilder& body) { body.kernel({}, store, cells.data() + 1, 7); }).after(loop);
    Exec exec = std::move(b).build().instantiate({.recorder = true});
    run(exec, Stream());
    CHECK(read(cells) == std::vector{0, 7, 15});
    CHECK(cudag::unfinished_nodes().empty());
}

TEST_CASE("marks are in the exec, not in the graph", "[recorder]") {
    const auto cells = device({0, 0, 0});
    GraphBuilder b;
    auto first = b.kernel({}, store, cells.data(), 1);
    b.kernel({}, store, cells.data() + 1, 2).after(first);
    b.kernel({}, store, cells.data() + 2, 3).after(first);
    const Graph graph = std::move(b).build();
    const Graph before = graph.clone();
    const auto edges = native_edges(graph.native());
    Exec recorded = graph.instantiate({.recorder = true});
    CHECK(recorded.options().recorder);
    CHECK(graph.node_count() == 3);
    CHECK(graph.nodes().size() == 3);
    CHECK(native_edges(graph.native()) == edges);
    CHECK(graph.dot() == before.dot());
    CHECK(diff(before, graph).empty());
    std::size_t nodes = 0;
    cudag::check(cudaGraphGetNodes(graph.native(), nullptr, &nodes));
    CHECK(nodes == 3);
}

namespace {

/// Three stores to cells, unordered, so that CUDA pairs them by the order in which they became sinks.
Graph stores(int* cells, int value) {
    GraphBuilder b;
    for (int i = 0; i < 3; ++i)
        b.kernel({}, store, cells + i, value + i);
    return std::move(b).build();
}

} // namespace

TEST_CASE("other Execs of a recorded graph take whole updates as before", "[recorder]") {
    const auto cells = device({0, 0, 0});
    const Graph graph = stores(cells.data(), 1), next = stores(cells.data(), 10);
    Exec plain = graph.instantiate();
    Exec recorded = graph.instantiate({.recorder = true});
    Exec later = graph.instantiate();
    for (Exec* const exec : {&plain, &recorded, &later}) {
        REQUIRE(exec->update(next).updated());
        run(*exec, Stream());
        CHECK(read(cells) == std::vector{10, 11, 12});
        REQUIRE(exec->update(graph).updated());
        run(*exec, Stream());
        CHECK(read(cells) == std::vector{1, 2, 3});
    }
}

TEST_CASE("a recorded Exec takes updates of all kinds, and still names the node that hangs", "[recorder]") {
    const auto cells = device({0, 0});
    const Stream stream;
    Gate gate;
    const auto make = [&](int value) {
        GraphBuilder inner;
        inner.kernel({}, store, cells.data() + 1, 10 * value).label("inner");
        GraphBuilder b;
        auto first = b.kernel({}, store, cells.data(), value).label("first");
        auto held = b.host(gate.node()).label("held").after(first);
        add_child(b, std::move(inner).build()).label("child").after(held);
        return std::move(b).build();
    };
    const Graph graph = make(1);
    Exec exec = graph.instantiate({.recorder = true});
    const auto check = [&](int first, int inner) {
        exec.launch(stream);
        gate.wait_until_entered();
        CHECK(labels_of(late(stream).nodes()) == Labels{"held"});
        gate.open();
        stream.synchronize();
        CHECK(read(cells) == std::vector{first, inner});
        gate.close();
    };
    const auto first = graph.find_one("first").as(store);
    exec.update(first, cudag::arg<1>(2));
    check(2, 10);
    REQUIRE(exec.update(make(3)).updated());
    check(3, 30);
    REQUIRE(exec.update(make(4), {.match = cudag::Match::structure}).updated());
    check(4, 40);
    exec.disable(first);
    check(4, 40);
    exec.enable(first);
    GraphBuilder inner;
    inner.kernel({}, store, cells.data() + 1, 50);
    exec.update(graph.find_one("child").as<cudag::ChildNode>(), std::move(inner).build());
    check(4, 50);

    GraphBuilder other;
    other.host(gate.node()).label("another");
    const Graph another = std::move(other).build();
    CHECK(exec.update(another).needs_instantiate());
    check(4, 50);
    CHECK(exec.update_or_instantiate(another).needs_instantiate());
    exec.launch(stream);
    gate.wait_until_entered();
    CHECK(labels_of(late(stream).nodes()) == Labels{"another"});
    gate.open();
    stream.synchronize();
}

TEST_CASE("a recorded Exec takes apply and bind, and a clone is recorded as its graph is", "[recorder]") {
    const cudag::BufferParam<int> cell(1);
    const auto other = device({0});
    const Stream stream;
    Gate gate;
    GraphBuilder b;
    auto first = b.kernel({}, store, cell, 1).label("first");
    auto held = b.host(gate.node()).label("held").after(first);
    b.kernel({}, add, cell, cell, 2).label("last").after(held);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate({.recorder = true});
    graph.update(graph.find_one("first").as(store), cudag::arg<1>(5));
    CHECK(exec.apply(graph) == 1);
    exec.bind(cell, other);
    const Graph clone = graph.clone();
    Exec of_clone = clone.instantiate({.recorder = true});
    of_clone.bind(cell, other);
    for (Exec* const each : {&exec, &of_clone}) {
        cudag::check(cudaMemset(other.data(), 0, sizeof(int)));
        cudag::check(cudaStreamSynchronize(nullptr)); // for which the launch's stream does not wait
        each->launch(stream);
        gate.wait_until_entered();
        CHECK(labels_of(late(stream).nodes()) == Labels{"held"});
        gate.open();
        stream.synchronize();
        CHECK(read(other) == std::vector{7});
        gate.close();
    }
}

TEST_CASE("graphs that cannot be marked are refused a recorder by name", "[recorder]") {
    GraphBuilder b;
    auto alloc = b.alloc<int>(1).label("temporary");
    b.free(alloc).after(alloc);
    const Graph graph = std::move(b).build();
    const auto error = refused<InstantiateError>([&] { static_cast<void>(graph.instantiate({.recorder = true})); });
    CHECK_THAT(error.what(), StartsWith("cudag: instantiate with recorder: ") && ContainsSubstring("\"temporary\"") &&
                                 ContainsSubstring("CUDA removes no marks from a graph with graph memory"));
    CHECK(error.labels() == Labels{"temporary"});
    Exec exec = graph.instantiate();
    run(exec, Stream());

    const auto cell = device({0});
    GraphBuilder device_launched;
    device_launched.kernel({}, store, cell.data(), 1);
    const Graph launched = std::move(device_launched).build();
    CHECK_THAT(refused<InstantiateError>([&] {
                   static_cast<void>(launched.instantiate({.device_launch = true, .recorder = true}));
               }).what(),
               ContainsSubstring("leave out device_launch"));
}

TEST_CASE("CUDAG_CHECK=recorder records the Execs that can be", "[.][checks]") {
    const auto cell = device({0});
    GraphBuilder b;
    b.kernel({}, store, cell.data(), 1);
    const Graph graph = std::move(b).build();
    GraphBuilder with_memory;
    auto alloc = with_memory.alloc<int>(1);
    with_memory.free(alloc).after(alloc);
    const Graph memory = std::move(with_memory).build();
    CHECK(graph.instantiate().options().recorder);
    CHECK_FALSE(memory.instantiate().options().recorder);
}

TEST_CASE("without CUDAG_CHECK an Exec has a recorder if it was asked for", "[recorder]") {
    GraphBuilder b;
    b.kernel({}, nothing);
    const Graph graph = std::move(b).build();
    CHECK_FALSE(graph.instantiate().options().recorder);
    CHECK(graph.instantiate({.recorder = true}).options().recorder);
}
