// Clones: equal, and independent of the original.
#include <memory>
#include <optional>

#include "native.hpp"

using cudag::DeviceBuffer;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Node;

namespace {

/// The indices of the ends of all edges.
std::vector<std::pair<std::size_t, std::size_t>> edge_indices(const Graph& graph) {
    const std::vector<Node> nodes = graph.nodes();
    const auto index = [&](const Node& node) {
        return static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
    };
    std::vector<std::pair<std::size_t, std::size_t>> result;
    for (const cudag::Edge& edge : graph.edges())
        result.emplace_back(index(edge.from), index(edge.to));
    return result;
}

} // namespace

TEST_CASE("a clone has the same nodes, edges, labels and locations", "[graph][clone]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const auto set = b.memset(cell, 0).label("clear");
    const auto kernel = b.kernel({}, store, cell, 1).label("fill").after(set);
    b.host([] {}).after(set, kernel);
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();

    REQUIRE(clone.node_count() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        const Node original = graph.nodes()[i];
        const Node copy = clone.nodes()[i];
        CHECK(copy.kind() == original.kind());
        CHECK(copy.label() == original.label());
        CHECK(copy.location().line == original.location().line);
        CHECK(copy.native() != original.native());
    }
    CHECK(edge_indices(clone) == edge_indices(graph));
    CHECK(native_edges(clone.native()).size() == 2); // others imply one
}

TEST_CASE("a clone runs when the original is gone", "[graph][clone]") {
    const auto cells = device({0, 0});
    bool called = false;
    GraphBuilder b;
    const auto first = b.kernel({}, store, cells, 4);
    const auto second = b.kernel({}, add, cells.data() + 1, cells, 10).after(first);
    b.host([&called] { called = true; }).after(second);
    std::optional<Graph> graph = std::move(b).build();
    const Graph clone = graph->clone();
    graph.reset();

    cudag::Exec exec = clone.instantiate();
    run(exec, cudag::Stream());
    CHECK(read(cells) == std::vector{4, 14});
    CHECK(called);
}

TEST_CASE("the original runs when its clone is gone", "[graph][clone]") {
    const auto cell = device({0});
    GraphBuilder b;
    b.kernel({}, store, cell, 4);
    const Graph graph = std::move(b).build();
    static_cast<void>(graph.clone());
    cudag::Exec exec = graph.instantiate();
    run(exec, cudag::Stream());
    CHECK(read(cell) == std::vector{4});
}

TEST_CASE("a node's counterpart is the same node of the clone, typed", "[graph][clone]") {
    const auto cell = device({0});
    GraphBuilder b;
    const auto set = b.memset(cell, 9);
    const auto kernel = b.kernel({}, store, cell, 1).label("fill").after(set);
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    const cudag::KernelNode<int*, int> copy = clone.counterpart(kernel);
    CHECK(copy == clone.nodes()[1]);
    CHECK(copy.label() == "fill");
    CHECK(clone.counterpart(graph.nodes()[0]) == clone.nodes()[0]);
}

TEST_CASE("a node of another graph has no counterpart", "[graph][clone]") {
    GraphBuilder b;
    const auto node = b.kernel({}, nothing).label("ours");
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    GraphBuilder other;
    const auto stranger = other.kernel({}, nothing).label("stranger");

    const auto error = refused<GraphError>([&] { static_cast<void>(clone.counterpart(stranger)); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("counterpart") && ContainsSubstring("\"stranger\""));
    CHECK(error.labels() == Labels{"stranger"});
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(graph.counterpart(node)); }));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(clone.counterpart(clone.nodes()[0])); }));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(clone.counterpart(Node())); }));
}

TEST_CASE("a clone of a clone knows the nodes of the one between", "[graph][clone]") {
    GraphBuilder b;
    const auto node = b.kernel({}, nothing);
    const Graph graph = std::move(b).build();
    std::optional<Graph> first = graph.clone();
    const Node between = first->nodes()[0];
    const Graph second = first->clone();
    CHECK(second.counterpart(between) == second.nodes()[0]);
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(second.counterpart(node)); }));
    first.reset();
    CHECK(second.node_count() == 1);
}

TEST_CASE("handles of the original do not belong to the clone", "[graph][clone]") {
    const auto cell = device({0});
    GraphBuilder b;
    const auto kernel = b.kernel({}, store, cell, 1).label("fill");
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    cudag::Exec exec = clone.instantiate();
    const auto error = refused<cudag::UpdateError>([&] { exec.update(kernel, cell, 2); });
    CHECK_THAT(error.what(), ContainsSubstring("\"fill\""));
    CHECK_NOTHROW(exec.update(clone.counterpart(kernel), cell, 2));
}

TEST_CASE("a label given to the clone is the clone's alone", "[graph][clone]") {
    GraphBuilder b;
    const auto node = b.kernel({}, nothing).label("original");
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    clone.counterpart(node).label("renamed");
    CHECK(node.label() == "original");
    CHECK(clone.find("renamed").size() == 1);
    CHECK(graph.find("renamed").empty());
}

TEST_CASE("a clone keeps its label when the original gets another one", "[graph][clone]") {
    GraphBuilder b;
    const Node node = b.host([] {}).label("first");
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    node.label("second");
    CHECK(node.label() == "second");
    CHECK(clone.nodes().at(0).label() == "first");
    CHECK(node.label("").label().empty());
}

TEST_CASE("what updates have set goes along through clones of clones", "[graph][clone]") {
    const auto cells = device({0, 0, 0});
    GraphBuilder inner;
    const auto in_child = inner.kernel({}, store, cells.data() + 2, 1);
    const Graph child_graph = std::move(inner).build();
    GraphBuilder b;
    auto first = b.kernel({}, store, cells.data(), 1);
    auto second = b.kernel({}, store, cells.data() + 1, 1);
    auto third = b.child(child_graph).inside(in_child);
    Graph graph = std::move(b).build();
    for (int i = 2; i < 40; ++i) {
        graph.update(i % 2 == 0 ? first : third, cudag::arg<1>(i));
        Graph next = graph.clone();
        first = next.counterpart(first);
        second = next.counterpart(second);
        third = next.counterpart(third);
        graph = std::move(next);
    }
    cudag::Exec exec = graph.instantiate();
    run(exec, cudag::Stream());
    CHECK(read(cells) == std::vector{38, 1, 39});
    CHECK(second.get<1>() == 1);
}

TEST_CASE("nodes are found in a clone by kernel", "[graph][clone]") {
    const auto cell = device({0});
    GraphBuilder b;
    b.kernel({}, nothing);
    b.kernel({}, store, cell, 1);
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    const auto found = clone.find(store);
    REQUIRE(found.size() == 1);
    CHECK(found[0] == clone.nodes()[1]);
}
