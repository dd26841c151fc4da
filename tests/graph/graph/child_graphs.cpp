// Child graphs: cloned or moved into a node of another graph.
#include <optional>

#include "cuda_version.hpp"
#include "native.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::ChildNode;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::KernelNode;
using cudag::Node;
using cudag::Stream;

namespace {

using AddNode = KernelNode<int*, const int*, int>;

/// cell += 1, then cell += 10.
struct Inner {
    explicit Inner(const DeviceBuffer<int>& cell) {
        GraphBuilder b;
        first = b.kernel({}, add, cell, cell, 1).label("first");
        second = b.kernel({}, add, cell, cell, 10).label("second").after(first);
        graph = std::move(b).build();
    }
    AddNode first;
    AddNode second;
    std::optional<Graph> graph;
};

void check_refused(const GraphError& error, cudaError_t code, const char* text) {
    CHECK(error.code() == cuda_code(code));
    CHECK_THAT(error.what(), ContainsSubstring(text));
}

} // namespace

TEST_CASE("a child graph runs between the nodes around it", "[child]") {
    const auto cells = device({0, 0});
    Inner inner(cells);
    GraphBuilder b;
    const auto before = b.kernel({}, store, cells, 100);
    const auto child = b.child(*inner.graph).label("inner").after(before);
    b.kernel({}, add, cells.data() + 1, cells, 0).after(child);
    run(std::move(b));
    CHECK(read(cells) == std::vector{111, 111});
}

TEST_CASE("a child graph is one node, with a graph inside to look at", "[child]") {
    const DeviceBuffer<int> cell(1);
    Inner inner(cell);
    GraphBuilder b;
    const auto child = b.child(*inner.graph).label("inner");
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 1);
    CHECK(child.kind() == cudag::NodeKind::child);
    CHECK(native_type(child) == cudaGraphNodeTypeGraph);
    CHECK(graph.nodes().at(0).as<ChildNode>() == child);

    const Graph inside = child.graph();
    REQUIRE(inside.node_count() == 2);
    CHECK(inside.edge_count() == 1);
    CHECK(inside.nodes()[0] == child.inside(inner.first));
    CHECK(inside.nodes()[1].label() == "second");
    CHECK(inside.native() != inner.graph->native());
    CHECK(native_nodes(inside.native()).size() == 2);
    CHECK(native_edges(inside.native()) == NativeEdges{{inside.nodes()[0].native(), inside.nodes()[1].native()}});
}

TEST_CASE("inside gives the typed handle of the clone's node", "[child]") {
    const DeviceBuffer<int> cell(1);
    Inner inner(cell);
    GraphBuilder b;
    const auto child = b.child(*inner.graph);
    const AddNode found = child.inside(inner.second);
    CHECK(found.label() == "second");
    CHECK(found != inner.second);
    CHECK(found.native() != inner.second.native());
    CHECK(kernel_argument<int>(found, 2) == 10);
}

TEST_CASE("inside knows the nodes of a graph that is gone", "[child]") {
    const DeviceBuffer<int> cell(1);
    std::optional<Inner> inner(cell);
    const AddNode first = inner->first;
    GraphBuilder b;
    const auto child = b.child(*inner->graph);
    inner.reset();
    CHECK(child.inside(first).label() == "first");
}

TEST_CASE("inside refuses nodes of other graphs", "[child]") {
    const DeviceBuffer<int> cell(1);
    Inner inner(cell);
    Inner other(cell);
    GraphBuilder b;
    const auto child = b.child(*inner.graph).label("inner");
    const auto error = refused<GraphError>([&] { static_cast<void>(child.inside(other.first)); });
    check_refused(error, cudaErrorInvalidValue, "inside: kernel \"first\"");
    CHECK_THAT(error.what(), ContainsSubstring("not of the graph inside child \"inner\""));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(child.inside(child)); }));
}

TEST_CASE("a clone is the graph as it was when it was added", "[child]") {
    const auto cell = device({0});
    Inner inner(cell);
    GraphBuilder b;
    const auto before = b.child(*inner.graph);
    inner.graph->update(inner.first, arg<2>(1000));
    b.child(*inner.graph).after(before, b.join(Node(b.kernel({}, nothing))));
    const Graph graph = std::move(b).build();
    inner.graph.reset();
    const auto counts = graph.find(add);
    REQUIRE(counts.size() == 4);
    CHECK(kernel_argument<int>(counts[0], 2) == 1);
    CHECK(kernel_argument<int>(counts[2], 2) == 1000);
}

TEST_CASE("a graph can be several children, and be instantiated as well", "[child]") {
    const auto cell = device({0});
    Inner inner(cell);
    Exec alone = inner.graph->instantiate();
    GraphBuilder b;
    const auto one = b.child(*inner.graph);
    const auto two = b.child(*inner.graph).after(one);
    b.child(*inner.graph).after(two);
    run(std::move(b));
    run(alone, Stream());
    CHECK(read(cell) == std::vector{44});
}

TEST_CASE("a clone keeps what its graph owns", "[child][owners]") {
    Watched cell;
    const Stream stream;
    std::optional<Exec> exec;
    {
        GraphBuilder b;
        {
            GraphBuilder inner;
            inner.kernel({}, store, cell.take(), 7);
            const Graph graph = std::move(inner).build();
            b.child(graph);
        }
        CHECK(cell.alive());
        exec = std::move(b).build().instantiate();
    }
    run(*exec, stream);
    CHECK(cell.alive());
    CHECK(cell.value() == 7);
    exec.reset();
    CHECK(released(cell, stream));
}

TEST_CASE("an exec updates, disables and enables nodes inside a child", "[child][exec]") {
    const auto cell = device({0});
    Inner inner(cell);
    GraphBuilder b;
    const auto child = b.child(*inner.graph);
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;

    exec.update(child.inside(inner.first), arg<2>(1000));
    run(exec, stream);
    CHECK(read(cell) == std::vector{1010});
    exec.disable(child.inside(inner.second));
    CHECK_FALSE(exec.is_enabled(child.inside(inner.second)));
    run(exec, stream);
    CHECK(read(cell) == std::vector{2010});
    exec.enable(child.inside(inner.second));
    run(exec, stream);
    CHECK(read(cell) == std::vector{3020});
}

TEST_CASE("an exec refuses the handle that a child was cloned from", "[child][exec]") {
    const DeviceBuffer<int> cell(1);
    Inner inner(cell);
    GraphBuilder b;
    b.child(*inner.graph);
    Exec exec = std::move(b).build().instantiate();
    const auto error = refused<cudag::UpdateError>([&] { exec.update(inner.first, arg<2>(5)); });
    CHECK_THAT(error.what(), ContainsSubstring("\"first\"") && ContainsSubstring("does not belong"));
}

TEST_CASE("a graph changes a node inside a child, and execs apply it", "[child][exec]") {
    const auto cell = device({0});
    Inner inner(cell);
    GraphBuilder b;
    const auto child = b.child(*inner.graph);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    graph.update(child.inside(inner.first), arg<2>(500));
    CHECK(exec.apply(graph) == 1);
    run(exec, Stream());
    CHECK(read(cell) == std::vector{510});
}

TEST_CASE("children nest", "[child]") {
    const auto cell = device({0});
    Inner inner(cell);
    GraphBuilder middle;
    const auto deepest = middle.child(*inner.graph).label("deepest");
    const Graph middle_graph = std::move(middle).build();
    GraphBuilder b;
    const auto outer = b.child(middle_graph).label("outer");
    const ChildNode inside = outer.inside(deepest);
    const AddNode leaf = outer.inside(deepest.inside(inner.first));
    CHECK(leaf == inside.inside(deepest.inside(inner.first)));
    CHECK(leaf.label() == "first");
    Exec exec = std::move(b).build().instantiate();
    exec.update(leaf, arg<2>(5));
    run(exec, Stream());
    CHECK(read(cell) == std::vector{15});
}

TEST_CASE("a clone of a graph clones its children", "[child][clone]") {
    const auto cell = device({0});
    Inner inner(cell);
    GraphBuilder b;
    const auto child = b.child(*inner.graph).label("inner");
    std::optional<Graph> graph = std::move(b).build();
    const Graph clone = graph->clone();
    const ChildNode copy = clone.counterpart(child);
    const AddNode first = child.inside(inner.first);
    const AddNode first_of_copy = clone.counterpart(first);
    CHECK(first_of_copy == copy.inside(first));
    CHECK(first_of_copy.native() != first.native());
    CHECK(first_of_copy.native() == native_nodes(copy.graph().native()).at(0));
    graph.reset();
    Exec exec = clone.instantiate();
    exec.update(first_of_copy, arg<2>(2));
    run(exec, Stream());
    CHECK(read(cell) == std::vector{12});
}

TEST_CASE("find looks into children", "[child]") {
    const DeviceBuffer<int> cell(1);
    Inner inner(cell);
    GraphBuilder b;
    const auto child = b.child(*inner.graph);
    const auto own = b.kernel({}, add, cell, cell, 3).label("first").after(child);
    const Graph graph = std::move(b).build();
    CHECK(graph.find("first") == std::vector<Node>{own, child.inside(inner.first)});
    CHECK(graph.find(add) == std::vector<AddNode>{own, child.inside(inner.first), child.inside(inner.second)});
}

TEST_CASE("an adopted graph has its children", "[child][adopt]") {
    const auto cell = device({0});
    Inner inner(cell);
    GraphBuilder b;
    b.child(*inner.graph);
    const Graph graph = std::move(b).build();
    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, graph.native()));
    const Graph adopted = Graph::adopt(copy);
    const auto child = adopted.nodes().at(0).as<ChildNode>();
    CHECK(child.graph().node_count() == 2);
    CHECK(child.graph().edge_count() == 1);
    const auto kernels = adopted.find(add);
    REQUIRE(kernels.size() == 2);
    Exec exec = adopted.instantiate();
    exec.update(kernels[0], arg<2>(7));
    run(exec, Stream());
    CHECK(read(cell) == std::vector{17});
}

TEST_CASE("an edge does not lead into a child", "[child][edges]") {
    const DeviceBuffer<int> cell(1);
    Inner inner(cell);
    GraphBuilder b;
    const auto child = b.child(*inner.graph).label("inner");
    const auto kernel = b.kernel({}, nothing).label("outside");
    const auto error = refused<GraphError>([&] { kernel.after(child.inside(inner.second)); });
    check_refused(error, cudaErrorInvalidValue, "the node is in child \"inner\"");
    CHECK_THAT(error.what(), ContainsSubstring("used in the graph itself"));
    static_cast<void>(refused<GraphError>([&] { child.inside(inner.second).after(kernel); }));
    CHECK(std::move(b).build().edge_count() == 0);
}

TEST_CASE("a child of an empty graph does nothing", "[child]") {
    if (older_than(12090)) return;
    const auto cell = device({0});
    GraphBuilder b;
    const auto child = b.child(GraphBuilder().build());
    CHECK(child.graph().node_count() == 0);
    b.kernel({}, store, cell, 1).after(child);
    run(std::move(b));
    CHECK(read(cell) == std::vector{1});
}

TEST_CASE("a moved-from graph is no child", "[child]") {
    const DeviceBuffer<int> cell(1);
    Inner inner(cell);
    const Graph taken = std::move(*inner.graph);
    GraphBuilder b;
    check_refused(refused<GraphError>([&] { b.child(*inner.graph); }), cudaErrorInvalidValue, "moved-from Graph");
    check_refused(refused<GraphError>([&] { b.child(std::move(*inner.graph)); }), cudaErrorInvalidValue,
                  "moved-from Graph");
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("DOT text draws a child as a cluster", "[child][dot]") {
    const DeviceBuffer<int> cell(1);
    Inner inner(cell);
    GraphBuilder b;
    const auto child = b.child(*inner.graph).label("inner");
    b.kernel({}, nothing).after(child);
    const std::string dot = std::move(b).build().dot();
    CHECK_THAT(dot, ContainsSubstring("subgraph cluster_n0 {") && ContainsSubstring("n0 -> n1;") &&
                        ContainsSubstring("n2 -> n3;") && ContainsSubstring("first") && ContainsSubstring("second"));
}
