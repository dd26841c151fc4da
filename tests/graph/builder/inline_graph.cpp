// GraphBuilder::inline_graph: the nodes of a graph, written again into another one.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "functions.hpp"
#include "native.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::capture;
using cudag::DeviceBuffer;
using cudag::DynamicParam;
using cudag::Edge;
using cudag::Event;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::InlinedGraph;
using cudag::Node;
using cudag::NodeKind;
using cudag::PinnedBuffer;
using cudag::Stream;

namespace {

using Cells = std::vector<int>;
using Nodes = std::vector<Node>;

/// cells[0] = 1, cells[1] = cells[0] + value.
Graph two_steps(const DeviceBuffer<int>& cells, int value) {
    GraphBuilder b;
    const auto first = b.kernel({}, store, cells, 1).label("first");
    b.kernel({}, add, cells.data() + 1, cells.data(), value).label("second").after(first);
    return std::move(b).build();
}

void check_refused(const Graph& graph, const std::string& text) {
    GraphBuilder b;
    b.kernel({}, nothing);
    CHECK_THAT(refused<GraphError>([&] { b.inline_graph(graph); }).what(), ContainsSubstring(text));
    CHECK(b.node_count() == 1);
    CHECK(std::move(b).build().edge_count() == 0);
}

} // namespace

TEST_CASE("inlined nodes are as in their graph, and run between the nodes around them", "[builder][inline]") {
    const auto cells = device({0, 0, 0});
    const Graph graph = two_steps(cells, 10);
    GraphBuilder b;
    const auto before = b.memset(cells, 7);
    const InlinedGraph part = b.inline_graph(graph).after(before);
    const auto last = b.kernel({}, add, cells.data() + 2, cells.data() + 1, 100).after(part.tails());
    const Graph outer = std::move(b).build();
    REQUIRE(part.nodes().size() == 2);
    CHECK(part.roots() == Nodes{part.nodes()[0]});
    CHECK(part.tails() == Nodes{part.nodes()[1]});
    CHECK(part.nodes()[0].label() == "first");
    CHECK(part.nodes()[0].location().line == graph.nodes()[0].location().line);
    CHECK(outer.node_count() == 4);
    CHECK(outer.edges() ==
          std::vector<Edge>{{part.nodes()[0], part.nodes()[1]}, {before, part.nodes()[0]}, {part.nodes()[1], last}});
    const auto second = part.counterpart(graph.find_one(add));
    CHECK(second == outer.find_one("second"));
    Exec exec = outer.instantiate();
    const Stream stream;
    run(exec, stream);
    CHECK(read(cells) == Cells{1, 11, 111});
    exec.update(second, arg<2>(20));
    run(exec, stream);
    CHECK(read(cells) == Cells{1, 21, 121});
    Exec alone = graph.instantiate(); // unchanged
    run(alone, stream);
    CHECK(read(cells) == Cells{1, 11, 121});
}

TEST_CASE("an inlined graph differs in nothing from its original", "[builder][inline]") {
    const auto cells = device({0, 0, 0, 0});
    const PinnedBuffer<int> host(4);
    int called = 0;
    Event event;
    GraphBuilder b({.races = cudag::Races::allowed});
    b.kernel({.grid = 2, .block = 64, .shared_bytes = 128, .priority = 0}, store, cells, 3);
    b.memcpy(host, cells);
    b.memcpy2d(cudag::DeviceSpan2D<int>(cells, 2, 2), cudag::HostSpan2D<int>(host, 2, 2));
    b.memset(cells, 5);
    b.host([&] { ++called; });
    b.record(event);
    b.wait(event);
    b.join(b.kernel({}, nothing), b.kernel({}, nothing));
    add_child(b, two_steps(cells, 4));
    const Graph graph = std::move(b).build();

    GraphBuilder again({.races = cudag::Races::allowed});
    again.inline_graph(graph);
    const Graph copy = std::move(again).build();
    for (const cudag::Difference& difference : diff(graph, copy))
        FAIL_CHECK(to_string(difference));
    CHECK(copy.edge_count() == graph.edge_count());
    Exec exec = copy.instantiate();
    run(exec, Stream());
    CHECK(called == 1);
}

TEST_CASE("a graph is inlined as it is now, also several times", "[builder][inline]") {
    const auto cells = device({0, 0});
    Graph graph = two_steps(cells, 10);
    graph.update(graph.find_one(add), arg<2>(30));
    GraphBuilder b;
    const InlinedGraph one = b.inline_graph(graph);
    const InlinedGraph two = b.inline_graph(graph).after(one.tails());
    graph.update(graph.find_one(add), arg<2>(40));
    CHECK(one.nodes() != two.nodes());
    CHECK(one.counterpart(graph.find_one(add)).get<2>() == 30);
    CHECK(two.counterpart(graph.find_one(add)).get<2>() == 30);
    run(std::move(b));
    CHECK(read(cells) == Cells{1, 31});
}

TEST_CASE("a captured graph is inlined, with kernels that cudag did not launch", "[builder][inline][capture]") {
    const auto cells = device({0, 0});
    const Stream stream;
    const Graph graph = capture(stream, [&](cudag::StreamCapture& c) {
        c.step("typed", [&](cudaStream_t s) { cudag::launch(s, {}, store, cells, 4); });
        c.step("raw", [&](cudaStream_t s) {
            int* to = cells.data() + 1;
            const int* from = cells.data();
            int value = 5;
            std::array<void*, 3> arguments{&to, &from, &value};
            cudag::check(cudaLaunchKernel(cudag::detail::kernel_symbol(add), dim3(1), dim3(1), arguments.data(), 0, s));
        });
    });
    GraphBuilder b;
    const auto part = b.inline_graph(graph);
    CHECK(part.nodes().at(1).label() == "raw");
    const Graph outer = std::move(b).build();
    CHECK(diff(graph, outer).empty());
    CHECK(outer.find(add).size() == 1);
    Exec exec = outer.instantiate();
    run(exec, stream);
    CHECK(read(cells) == Cells{4, 9});
}

TEST_CASE("nodes in children of an inlined graph are translated", "[builder][inline][child]") {
    const auto cells = device({0, 0});
    const Graph inner = two_steps(cells, 10);
    GraphBuilder middle;
    const auto child = middle.child(inner).label("child");
    const Graph graph = std::move(middle).build();
    const auto original = child.inside(inner.find_one(add));
    GraphBuilder b;
    const InlinedGraph part = b.inline_graph(graph);
    const auto copy = part.counterpart(original);
    CHECK(copy != original);
    Exec exec = std::move(b).build().instantiate();
    exec.update(copy, arg<2>(50));
    run(exec, Stream());
    CHECK(read(cells) == Cells{1, 51});
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(part.counterpart(inner.find_one(add))); }).what(),
               ContainsSubstring("not of the graph that was given to inline_graph()"));
}

TEST_CASE("the owners of an inlined graph live with the outer one", "[builder][inline][owners]") {
    auto cells = std::make_shared<DeviceBuffer<int>>(2);
    const std::weak_ptr<void> watch = cells;
    std::optional<Graph> outer;
    {
        GraphBuilder b;
        b.kernel({}, store, cells->data(), 1).retain(cells);
        const Graph graph = std::move(b).build();
        GraphBuilder c;
        c.inline_graph(graph);
        outer.emplace(std::move(c).build());
    }
    cells.reset();
    CHECK_FALSE(watch.expired());
    Exec exec = outer->instantiate();
    run(exec, Stream());
    outer.reset();
    { const Exec gone = std::move(exec); }
    CHECK(watch.expired());
}

TEST_CASE("races with inlined nodes are found, and inferred edges order them", "[builder][inline][races]") {
    const auto cells = device({0, 0});
    GraphBuilder fills;
    fills.memset(cells, 3).label("fill");
    const Graph graph = std::move(fills).build();
    GraphBuilder racing;
    racing.memset(cells, 0);
    racing.inline_graph(graph);
    CHECK_THROWS_AS(racing.check(), cudag::RaceError);
    GraphBuilder inferring({.dependencies = cudag::Dependencies::inferred});
    inferring.memset(cells, 0);
    inferring.inline_graph(graph);
    Exec exec = std::move(inferring).build().instantiate();
    run(exec, Stream());
    CHECK(read(cells) == Cells{3, 3});
}

TEST_CASE("an inlined kernel follows its DynamicParam", "[builder][inline][update]") {
    const auto cells = device({0});
    DynamicParam<int> value(1);
    GraphBuilder b;
    b.kernel({}, store, cells, value);
    const Graph graph = std::move(b).build();
    GraphBuilder c;
    c.inline_graph(graph);
    Exec exec = std::move(c).build().instantiate();
    value.set(6, exec);
    run(exec, Stream());
    CHECK(read(cells) == Cells{6});
}

TEST_CASE("a graph without nodes becomes an empty node, which keeps the order", "[builder][inline]") {
    GraphBuilder b;
    const auto before = b.kernel({}, nothing);
    const InlinedGraph part = b.inline_graph(GraphBuilder().build()).after(before);
    const auto after = b.kernel({}, nothing).after(part.tails());
    REQUIRE(part.nodes().size() == 1);
    CHECK(part.nodes()[0].kind() == NodeKind::empty);
    CHECK(after.predecessors() == part.tails());
}

TEST_CASE("graphs that cannot be written again are refused by name, and nothing is added", "[builder][inline]") {
    const auto cells = device({0, 0});
    GraphBuilder updatable;
    updatable.kernel({.device_updatable = true}, nothing).label("changing");
    check_refused(std::move(updatable).build(), "\"changing\"");
    GraphBuilder around;
    const auto child = add_child(around, two_steps(cells, 1)).label("outer");
    const Graph graph = std::move(around).build();
    check_refused(child.graph(), "inside child \"outer\"");
    CHECK_THROWS_AS(InlinedGraph().nodes(), GraphError);
}

TEST_CASE("nodes that a body does not accept are refused there, and the graph goes on",
          "[builder][inline][conditional]") {
    GraphBuilder hosts;
    hosts.kernel({}, nothing);
    hosts.host([] {}).label("report");
    const Graph graph = std::move(hosts).build();
    GraphBuilder b;
    const auto condition = b.condition(1);
    CHECK_THROWS_AS(b.if_(condition, [&](GraphBuilder& body) { body.inline_graph(graph); }), GraphError);
    const auto cells = device({0, 0});
    const Graph fitting = two_steps(cells, 2);
    b.if_(condition, [&](GraphBuilder& body) {
        CHECK_THROWS_AS(body.inline_graph(graph), GraphError);
        CHECK(body.node_count() == 0);
        body.inline_graph(fitting);
    });
    run(std::move(b));
    CHECK(read(cells) == Cells{1, 3});
}
