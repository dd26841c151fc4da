// Graphs that are moved into a node of another graph.
#include <optional>

#include "cuda_version.hpp"
#include "native.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Stream;

namespace {

struct Moved {
    cudag::DeviceBuffer<int> cell = device({0});
    GraphBuilder inner{};
    cudag::KernelNode<int*, const int*, int> node = inner.kernel({}, add, cell, cell, 1).label("step");
    Graph graph = std::move(inner).build();
    cudaGraph_t native = graph.native();
    GraphBuilder outer{};
};

} // namespace

TEST_CASE("a moved graph is the child itself", "[child][move]") {
    if (older_than(12090)) return;
    Moved m;
    const cudaGraphNode_t native_node = m.node.native();
    const auto child = m.outer.child(std::move(m.graph)).label("inner");
    CHECK(child.graph().native() == m.native);
    CHECK(child.inside(m.node) == m.node);
    CHECK(m.node.native() == native_node);
    Exec exec = std::move(m.outer).build().instantiate();
    exec.update(m.node, arg<2>(5));
    run(exec, Stream());
    CHECK(read(m.cell) == std::vector{5});
}

TEST_CASE("changes that were made before a graph was moved are in execs of the outer graph", "[child][move]") {
    if (older_than(12090)) return;
    Moved m;
    m.graph.update(m.node, arg<2>(40));
    m.outer.child(std::move(m.graph));
    Graph outer = std::move(m.outer).build();
    Exec exec = outer.instantiate();
    exec.update(m.node, arg<0>(m.cell.data()));
    run(exec, Stream());
    CHECK(read(m.cell) == std::vector{40});
    outer.update(m.node, arg<2>(60));
    CHECK(exec.apply(outer) == 1);
    run(exec, Stream());
    CHECK(read(m.cell) == std::vector{100});
}

TEST_CASE("a moved graph can be looked at, but no longer stands alone", "[child][move]") {
    if (older_than(12090)) return;
    Moved m;
    const auto child = m.outer.child(std::move(m.graph)).label("inner");
    const Graph& graph = m.graph; // NOLINT(bugprone-use-after-move)
    CHECK(graph.node_count() == 1);
    CHECK(graph.find("step").at(0) == m.node);

    GraphBuilder other;
    Exec exec = GraphBuilder().build().instantiate();
    const auto check = [&](auto&& call) {
        const auto error = refused<GraphError>(call);
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK(error.labels() == Labels{"inner"});
        CHECK_THAT(error.what(), ContainsSubstring("the graph is inside child \"inner\""));
    };
    check([&] { static_cast<void>(m.graph.instantiate()); });
    check([&] { static_cast<void>(m.graph.clone()); });
    check([&] { other.child(m.graph); });
    check([&] { other.child(std::move(m.graph)); });
    check([&] { m.outer.child(m.graph); });
    check([&] { m.graph.update(m.node, arg<2>(2)); });
    check([&] { static_cast<void>(exec.update(m.graph)); });
    const Graph outer = std::move(m.outer).build();
    CHECK(outer.node_count() == 1);
    CHECK(child.graph().node_count() == 1);
}

TEST_CASE("a moved graph goes with the graph around it", "[child][move]") {
    if (older_than(12090)) return;
    Moved m;
    { m.outer.child(std::move(m.graph)); }
    m.outer = GraphBuilder();
    for (const auto& call : {+[](Moved& moved) { static_cast<void>(moved.graph.node_count()); },
                             +[](Moved& moved) { static_cast<void>(moved.graph.instantiate()); },
                             +[](Moved& moved) { moved.outer.child(moved.graph); }}) {
        const auto error = refused<GraphError>([&] { call(m); });
        CHECK_THAT(error.what(), ContainsSubstring("no longer exists"));
    }
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(m.node.label()); }));
}

TEST_CASE("a graph is not moved while an exec of it is alive", "[child][move]") {
    if (older_than(12090)) return;
    Moved m;
    {
        const Exec exec = m.graph.instantiate();
        const auto error = refused<GraphError>([&] { m.outer.child(std::move(m.graph)); });
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK_THAT(error.what(), ContainsSubstring("an Exec of its graph is alive"));
    }
    CHECK(m.graph.node_count() == 1);
    m.outer.child(std::move(m.graph));
    run(std::move(m.outer));
    CHECK(read(m.cell) == std::vector{1});
}

TEST_CASE("a moved graph keeps what it owns", "[child][move][owners]") {
    if (older_than(12090)) return;
    Watched cell;
    const Stream stream;
    GraphBuilder outer;
    {
        GraphBuilder inner;
        inner.kernel({}, store, cell.take(), 7);
        outer.child(std::move(inner).build());
    }
    std::optional<Exec> exec;
    {
        const Graph graph = std::move(outer).build();
        exec = graph.instantiate();
    }
    run(*exec, stream);
    CHECK(cell.alive());
    CHECK(cell.value() == 7);
    exec.reset();
    CHECK(released(cell, stream));
}
