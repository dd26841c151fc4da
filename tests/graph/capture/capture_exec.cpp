// Launches of an Exec into a captured stream: its nodes are written into the capture, as they are in force.
#include "conditional_kernels.hpp"
#include "counting.hpp"
#include "cuda_version.hpp"
#include "foreign_capture.hpp"
#include "test.hpp"
#include "watched.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using cudag::arg;
using cudag::capture;
using cudag::CaptureError;
using cudag::CaptureMode;
using cudag::CaptureStatus;
using cudag::DeviceBuffer;
using cudag::Edge;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::launch;
using cudag::Node;
using cudag::NodeKind;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

/// x[0] = value, then x[1] = x[0] + 10.
struct Pair {
    explicit Pair(int* x) {
        GraphBuilder b;
        first = b.kernel({}, store, x, 1).label("first");
        second = b.kernel({}, add, x + 1, x, 10).label("second").after(first);
        graph = std::move(b).build();
    }

    cudag::KernelNode<int*, int> first;
    cudag::KernelNode<int*, const int*, int> second;
    std::optional<Graph> graph;
};

void run_once(Graph&& graph, const Stream& stream) {
    Exec exec = graph.instantiate();
    run(exec, stream);
}

/// Captures a launch of `exec`, which is refused, and not swallowed unseen.
void check_refused(Exec& exec, const std::string& label, const std::string& text) {
    const Stream stream;
    StreamCapture c(stream);
    const auto error = refused<GraphError>([&] { exec.launch(stream); });
    CHECK_THAT(error.what(), ContainsSubstring("launch of an Exec of the graph") && ContainsSubstring(label) &&
                                 ContainsSubstring(text));
    CHECK(c.status() == CaptureStatus::active);
    const auto late = refused<CaptureError>([&] { static_cast<void>(std::move(c).finish()); });
    CHECK_THAT(late.what(), ContainsSubstring(label));
}

} // namespace

TEST_CASE("an Exec launched into a capture stands between the work before and after it", "[capture][exec]") {
    const Stream stream;
    const auto cells = device({0, 0, 0, 0});
    int* const x = cells.data();
    Pair pair(x + 1);
    Exec exec = pair.graph->instantiate();
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        launch(s, {}, store, x, 5);
        exec.launch(s);
        launch(s, {}, add, x + 3, x + 2, 100);
    });
    REQUIRE(graph.node_count() == 4);
    const std::vector<Node> nodes = graph.nodes();
    CHECK(graph.edge_count() == 3);
    for (std::size_t i = 1; i < nodes.size(); ++i)
        CHECK(nodes[i].predecessors() == std::vector{nodes[i - 1]});
    CHECK(graph.find_one("first") == nodes[1]);
    CHECK(exec.replays() == 0);
    Exec whole = graph.instantiate();
    run(whole, stream);
    CHECK(read(cells) == std::vector{5, 1, 11, 111});
    whole.update(graph.find(add).at(0), arg<2>(20));
    run(whole, stream);
    run(exec, stream); // as it was
    CHECK(exec.replays() == 1);
    CHECK(read(cells) == std::vector{5, 1, 11, 121});
}

TEST_CASE("a capture records the Exec as it is in force, and no later update of it", "[capture][exec]") {
    const Stream stream;
    const auto cells = device({0, 0, 0, 0});
    const auto source = device({7});
    int* const x = cells.data();
    std::vector<int> called;
    GraphBuilder b;
    const auto kernel = b.kernel({}, store, x, 1);
    const auto fill = b.memset(cells.span().subspan(1, 1), 0);
    const auto copy = b.memcpy(cells.span().subspan(2, 1), cells.span().subspan(3, 1));
    const auto host = b.host([&] { called.push_back(1); });
    Exec exec = std::move(b).build().instantiate();
    exec.update(kernel, arg<1>(2));
    exec.update(fill, cells.span().subspan(1, 1), -1);
    exec.update(copy, cells.span().subspan(2, 1), source.span());
    exec.update(host, [&] { called.push_back(2); });
    Graph graph = capture(stream, [&](cudaStream_t s) { exec.launch(s); });
    exec.update(kernel, arg<1>(3));
    exec.update(host, [&] { called.push_back(3); });
    run_once(std::move(graph), stream);
    CHECK(read(cells) == std::vector{2, -1, 7, 0});
    CHECK(called == std::vector{2});
}

TEST_CASE("a capture records the parameters of a whole update", "[capture][exec]") {
    const Stream stream;
    const auto cells = device({0, 0});
    GraphBuilder other;
    other.kernel({}, subtract, cells.data() + 1, cells.data(), 4);
    const Graph next = std::move(other).build();
    GraphBuilder b;
    b.kernel({}, add, cells.data() + 1, cells.data(), 1);
    Exec exec = std::move(b).build().instantiate();
    REQUIRE(exec.update(next).updated());
    Graph graph = capture(stream, [&](cudaStream_t s) { exec.launch(s); });
    CHECK(graph.find(subtract).size() == 1);
    run_once(std::move(graph), stream);
    CHECK(read(cells) == std::vector{0, -4});
}

TEST_CASE("disabled nodes are recorded as empty nodes, in their place", "[capture][exec][enable]") {
    const Stream stream;
    const auto cells = device({0, 0, 0});
    int* const x = cells.data();
    GraphBuilder b;
    const auto fill = b.memset(cells.span().first(1), 3).label("fill");
    const auto sum = b.kernel({}, add, x + 1, x, 1).label("sum").after(fill);
    b.kernel({}, add, x + 2, x + 1, 1).label("last").after(sum);
    Exec exec = std::move(b).build().instantiate();
    exec.disable(fill);
    exec.disable(sum);
    Graph graph = capture(stream, [&](cudaStream_t s) { exec.launch(s); });
    REQUIRE(graph.node_count() == 3);
    CHECK(graph.find_one("fill").kind() == NodeKind::empty);
    CHECK(graph.find_one("sum").kind() == NodeKind::empty);
    CHECK(graph.edge_count() == 2);
    run_once(std::move(graph), stream);
    CHECK(read(cells) == std::vector{0, 0, 1});
    exec.enable(sum);
    exec.enable(fill);
    run_once(capture(stream, [&](cudaStream_t s) { exec.launch(s); }), stream);
    CHECK(read(cells) == std::vector{3, 4, 5});
}

TEST_CASE("a disabled kernel with an early edge is recorded with a full one", "[capture][exec][enable][edges]") {
    GraphBuilder b;
    const auto first = b.kernel({}, nothing).label("first");
    const auto second = b.kernel({}, nothing).label("second").after(cudag::programmatic(first));
    b.kernel({}, nothing).label("third").after(cudag::programmatic(second));
    Exec exec = std::move(b).build().instantiate({.plan = cudag::Plan::as_written()});
    exec.disable(first);
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) { exec.launch(s); });
    const auto nodes = graph.nodes();
    CHECK(graph.edges() ==
          std::vector<Edge>{{nodes[0], nodes[1]}, {nodes[1], nodes[2], cudag::EdgeKind::programmatic}});
}

TEST_CASE("an Exec launched into a forked stream is ordered there alone", "[capture][exec]") {
    const Stream stream;
    const Stream side;
    const auto cells = device({0, 0, 0});
    int* const x = cells.data();
    Pair pair(x + 1);
    Exec exec = pair.graph->instantiate();
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.fork(side);
        launch(c.stream(), {}, store, x, 5);
        exec.launch(side);
        c.join(side);
    });
    REQUIRE(graph.node_count() == 3);
    CHECK(graph.edge_count() == 1);
    CHECK(graph.races().empty());
}

TEST_CASE("races of a recorded Exec with other work are reported by label", "[capture][exec][race]") {
    const Stream stream;
    const Stream side;
    const auto cells = device({0, 0});
    GraphBuilder b;
    b.kernel({}, store, cudag::out(cells), 3).label("writer");
    Exec exec = std::move(b).build().instantiate();
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.fork(side);
        exec.launch(stream);
        exec.launch(side);
        c.join(side);
    });
    const auto races = graph.races();
    REQUIRE(races.size() == 1);
    CHECK(races[0].first.label() == "writer");
    CHECK(races[0].second.label() == "writer");
}

TEST_CASE("accesses of updates, not those of the graph, count in the capture", "[capture][exec][race]") {
    const Stream stream;
    const Stream side;
    const auto one = device({0});
    const auto two = device({0});
    GraphBuilder b;
    const auto writer = b.kernel({}, store, cudag::out(one), 3);
    Exec exec = std::move(b).build().instantiate();
    const auto recorded = [&] {
        return capture(stream, [&](StreamCapture& c) {
            c.fork(side);
            c.kernel({}, store, cudag::out(two), 4);
            exec.launch(side);
            c.join(side);
        });
    };
    CHECK(recorded().races().empty());
    exec.update(writer, cudag::out(two), 3);
    CHECK(recorded().races().size() == 1);
}

TEST_CASE("loops and graph memory are recorded with conditions and memory of their own", "[capture][exec][memory]") {
    if (older_than(12080)) return;
    const Stream stream;
    const auto cells = device({3, 0});
    const auto out = device({0});
    const Graph loop = counting(cells);
    GraphBuilder b;
    const auto scratch = b.alloc<int>(1).label("scratch");
    const auto fill = b.memset(scratch.span(), 4).after(scratch);
    const auto down = b.memcpy(out, scratch.span()).after(fill);
    b.free(scratch).after(down);
    const Graph memory = std::move(b).build();
    Exec first = loop.instantiate();
    Exec second = memory.instantiate();
    first.update(loop.find_one(add), arg<2>(6));
    Graph graph = capture(stream, [&](StreamCapture& c) {
        c.step("outer", [&](cudaStream_t s) {
            first.launch(s);
            second.launch(s);
            launch(s, {}, add, cells.data() + 1, out.data(), 100);
        });
    });
    CHECK(graph.find_one("loop").kind() == NodeKind::conditional);
    CHECK(graph.find("scratch").size() == 1);
    CHECK(graph.find("outer").size() == 4); // all without a label
    run_once(std::move(graph), stream);
    CHECK(read(cells) == std::vector{0, 104});
    CHECK(read(out) == std::vector{4});
    write(cells.span(), {2, 0});
    run(first, stream);
    CHECK(read(cells) == std::vector{0, 12});
}

TEST_CASE("nodes inside a child are recorded as updates left them", "[capture][exec][child]") {
    const Stream stream;
    const auto cells = device({0, 0});
    Pair pair(cells.data());
    GraphBuilder b;
    const auto child = b.child(*pair.graph);
    Exec exec = std::move(b).build().instantiate();
    exec.update(child.inside(pair.first), arg<1>(6));
    Graph graph = capture(stream, [&](cudaStream_t s) { exec.launch(s); });
    CHECK(graph.node_count() == 1);
    run_once(std::move(graph), stream);
    CHECK(read(cells) == std::vector{6, 16});
}

TEST_CASE("a captured region of a builder, also in a loop, records an Exec", "[capture][exec][builder]") {
    if (older_than(12080)) return; // repeat
    const Stream stream;
    const auto cells = device({0, 0});
    const auto count = cells.span().first(1);
    GraphBuilder one;
    one.kernel({}, add, cudag::inout(count), cudag::in(count), 1).label("count");
    Exec exec = std::move(one).build().instantiate();
    GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.kernel({}, store, cells, 5);
    b.capture(stream, [&](cudaStream_t s) { exec.launch(s); });
    b.kernel({}, add, cudag::out(cells.span().subspan(1, 1)), cudag::in(count), 0);
    b.repeat(3, [&](GraphBuilder& body) { body.capture(stream, [&](cudaStream_t s) { exec.launch(s); }); });
    Graph graph = std::move(b).build();
    CHECK(graph.find("count").size() == 2);
    run_once(std::move(graph), stream);
    CHECK(read(cells) == std::vector{9, 6});
}

TEST_CASE("the captured graph keeps the owners of the Exec's graph and of its updates", "[capture][exec][owners]") {
    const Stream stream;
    Watched given;
    Watched brought;
    auto callable = std::make_shared<int>(0);
    const std::weak_ptr<int> called = callable;
    std::optional<Graph> graph;
    {
        GraphBuilder b;
        b.kernel({}, store, given.take(), 1);
        const auto node = b.kernel({}, store, DeviceBuffer<int>(1), 1);
        const auto host = b.host([] {});
        Exec exec = std::move(b).build().instantiate();
        exec.update(node, brought.take(), 2);
        exec.update(host, [counter = std::move(callable)] { ++*counter; });
        graph = capture(stream, [&](cudaStream_t s) { exec.launch(s); });
    }
    REQUIRE(given.alive());
    REQUIRE(brought.alive());
    {
        Exec exec = graph->instantiate();
        run(exec, stream);
        CHECK(*called.lock() == 1);
    }
    CHECK(given.value() == 1);
    CHECK(brought.value() == 2);
    graph.reset();
    CHECK(released(given, stream));
    CHECK(released(brought, stream));
    CHECK(released(called, stream));
}

TEST_CASE("a host exception of a recorded node is rethrown at the next synchronisation", "[capture][exec][host]") {
    const Stream stream;
    GraphBuilder b;
    b.host([] { throw std::runtime_error("from the Exec"); }).label("thrower");
    Exec exec = std::move(b).build().instantiate();
    Exec whole = capture(stream, [&](cudaStream_t s) { exec.launch(s); }).instantiate();
    whole.launch(stream);
    const auto error = refused<cudag::HostError>([&] { stream.synchronize(); });
    CHECK_THAT(error.what(), ContainsSubstring("thrower") && ContainsSubstring("from the Exec"));
}

TEST_CASE("launches of an ExecCache and of a SegmentedGraph without a break are recorded", "[capture][exec][cache]") {
    const Stream stream;
    const auto cells = device({0, 0});
    const Pair pair(cells.data());
    cudag::ExecCache cache;
    cudag::SegmentedGraph segments = cudag::capture_segments(
        stream, [&](StreamCapture& c) { launch(c.stream(), {}, add, cells.data(), cells.data(), 50); });
    cache.launch(*pair.graph, stream); // instantiates, as no capture allows
    segments.launch(stream);
    stream.synchronize();
    Graph graph = capture(stream, [&](cudaStream_t s) {
        cache.launch(*pair.graph, s);
        segments.launch(s);
    });
    CHECK(graph.node_count() == 3);
    run_once(std::move(graph), stream);
    CHECK(read(cells) == std::vector{51, 11});
    cache.launch(*pair.graph, stream);
    stream.synchronize();
    CHECK(read(cells) == std::vector{1, 11});
}

TEST_CASE("nodes that cannot be recorded refuse the launch by name", "[capture][exec][errors]") {
    const auto cells = device({3, 0});
    SECTION("memory that outlives the launch") {
        GraphBuilder b;
        b.alloc<int>(1).label("kept");
        Exec exec = std::move(b).build().instantiate({.auto_free_on_launch = true});
        check_refused(exec, "\"kept\"", "its memory outlives the launch");
    }
    SECTION("a condition after a whole update") {
        const Graph graph = counting(cells);
        const Graph clone = graph.clone();
        Exec exec = graph.instantiate();
        REQUIRE(exec.update(clone).updated());
        check_refused(exec, "\"loop\"", "launch an Exec made from that graph");
    }
    SECTION("a kernel that others change") {
        GraphBuilder b;
        b.kernel({.device_updatable = true}, nothing).label("changing");
        Exec exec = std::move(b).build().instantiate();
        check_refused(exec, "\"changing\"", "build it here");
    }
}

TEST_CASE("an Exec with nodes that a body cannot have leaves the builder as it was", "[capture][exec][errors]") {
    if (older_than(12080)) return; // repeat
    const Stream stream;
    const auto cells = device({0});
    GraphBuilder one;
    const auto fill = one.memset(cells, 1);
    const auto scratch = one.alloc<int>(1).label("scratch").after(fill);
    one.free(scratch).after(scratch);
    Exec exec = std::move(one).build().instantiate();
    GraphBuilder b;
    const auto error = refused<GraphError>([&] {
        b.repeat(2, [&](GraphBuilder& body) { body.capture(stream, [&](cudaStream_t s) { exec.launch(s); }); });
    });
    CHECK_THAT(error.what(), ContainsSubstring("alloc"));
    b.memset(cells, 2);
    run(std::move(b));
    CHECK(read(cells) == std::vector{2});
    run(exec, stream);
    CHECK(read(cells) == std::vector{1});
}

TEST_CASE("an error about a recorded Exec in a step is reported once", "[capture][exec][errors]") {
    const Stream stream;
    GraphBuilder b;
    b.alloc<int>(1).label("kept");
    Exec exec = std::move(b).build().instantiate({.auto_free_on_launch = true});
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        CHECK_THROWS_AS(c.step("inner", [&](cudaStream_t s) { exec.launch(s); }), GraphError);
        c.kernel({}, nothing);
    });
    CHECK(graph.node_count() == 1);
}

TEST_CASE("a capture of other code records a capturable Exec", "[capture][exec][joined]") {
    const Stream stream;
    const auto cells = device({0, 0, 0, 0});
    int* const x = cells.data();
    Pair pair(x + 1);
    std::optional<Exec> exec = pair.graph->instantiate({.capturable = true});
    exec->update(pair.first, arg<1>(2));
    ForeignCapture foreign(stream.get());
    launch(stream, {}, store, x, 5);
    exec->launch(stream);
    launch(stream, {}, add, x + 3, x + 2, 100);
    exec->update(pair.first, arg<1>(9));
    foreign.run();
    CHECK(foreign.node_count() == 4);
    CHECK(read(cells) == std::vector{5, 2, 12, 112});
    run(*exec, stream);
    CHECK(read(cells) == std::vector{5, 9, 19, 112});
    exec.reset();
    foreign.run();
    CHECK(read(cells) == std::vector{5, 2, 12, 112});
}

TEST_CASE("the graph of other code keeps the owners of a recorded Exec", "[capture][exec][joined][owners]") {
    const Stream stream;
    Watched brought;
    GraphBuilder b;
    const auto node = b.kernel({}, store, DeviceBuffer<int>(1), 1);
    std::optional<Exec> exec = std::move(b).build().instantiate({.capturable = true});
    exec->update(node, brought.take(), 2);
    {
        ForeignCapture foreign(stream.get());
        exec->launch(stream);
        exec.reset();
        CHECK(brought.alive());
        foreign.run();
        CHECK(brought.value() == 2);
    }
    CHECK(released(brought, stream));
}

TEST_CASE("within a joined capture every Exec is recorded", "[capture][exec][joined]") {
    const Stream stream;
    const auto cells = device({0, 0});
    Pair pair(cells.data());
    Exec exec = pair.graph->instantiate();
    ForeignCapture foreign(stream.get());
    {
        auto joined = StreamCapture::join_existing(stream);
        exec.launch(stream);
        std::move(joined).leave();
    }
    foreign.run();
    CHECK(read(cells) == std::vector{1, 11});
}

TEST_CASE("a capture of other code refuses an Exec that is not capturable, with the way out",
          "[capture][exec][errors]") {
    const auto cell = device({0});
    GraphBuilder b;
    const auto node = b.kernel({}, store, DeviceBuffer<int>(1), 4);
    Exec exec = std::move(b).build().instantiate();
    const bool tracks = GENERATE(false, true);
    exec.update(node, cell, 5);
    if (!tracks) exec.update(node, cell.data(), 5);
    const Stream stream;
    ForeignCapture foreign(stream.get());
    const auto error = refused<CaptureError>([&] { exec.launch(stream); });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
    CHECK(error.operation() == "cuGraphLaunch");
    CHECK_THAT(error.what(), ContainsSubstring(".capturable"));
    CHECK(foreign.end() != cudaSuccess);
    run(exec, stream);
    CHECK(read(cell) == std::vector{5});
}

TEST_CASE("a refused launch leaves the capture of other code as it was", "[capture][exec][joined][errors]") {
    const Stream stream;
    const auto cell = device({0});
    GraphBuilder b;
    b.alloc<int>(1).label("kept");
    Exec exec = std::move(b).build().instantiate({.auto_free_on_launch = true, .capturable = true});
    ForeignCapture foreign(stream.get());
    launch(stream, {}, store, cell.data(), 5);
    const auto error = refused<GraphError>([&] { exec.launch(stream); });
    CHECK_THAT(error.what(), ContainsSubstring("\"kept\""));
    foreign.run();
    CHECK(foreign.node_count() == 1);
    CHECK(read(cell) == std::vector{5});
}

TEST_CASE("capturable Execs are launched as others outside of captures", "[capture][exec]") {
    const Stream stream;
    const auto cells = device({0, 0});
    Pair pair(cells.data());
    std::optional<Exec> exec = pair.graph->instantiate({.capturable = true});
    Exec moved = *std::move(exec);
    exec.reset();
    run(moved, stream);
    CHECK(read(cells) == std::vector{1, 11});
    CHECK(moved.replays() == 1);
    CHECK(moved.options().capturable);
    moved.launch(cudaStreamLegacy); // the legacy stream, which no capture has
    cudag::check(cudaStreamSynchronize(cudaStreamLegacy));
    CHECK(moved.replays() == 2);
}

TEST_CASE("a broken capture records no Exec, and says why it was broken", "[capture][exec][errors]") {
    const Stream stream;
    const auto cells = device({0, 0});
    Pair pair(cells.data());
    Exec exec = pair.graph->instantiate();
    const auto mode = GENERATE(CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed);
    StreamCapture c(stream, {.mode = mode});
    CHECK(cudaStreamSynchronize(stream.get()) != cudaSuccess);
    static_cast<void>(cudaGetLastError());
    CHECK_THROWS_AS(exec.launch(stream), cudag::Error);
    static_cast<void>(cudaGetLastError());
    CHECK_THROWS_AS(std::move(c).finish(), CaptureError);
    run(exec, stream);
    CHECK(read(cells) == std::vector{1, 11});
}
