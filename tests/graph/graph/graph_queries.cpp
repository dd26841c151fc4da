// What a built graph answers.
#include "native.hpp"
#include "watched.hpp"

using cudag::DeviceBuffer;
using cudag::Edge;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Node;

TEST_CASE("an empty graph has no nodes, and runs", "[graph]") {
    const Graph graph = GraphBuilder().build();
    CHECK(graph.node_count() == 0);
    CHECK(graph.edge_count() == 0);
    CHECK(graph.nodes().empty());
    CHECK(graph.edges().empty());
    cudag::Exec exec = graph.instantiate();
    run(exec, cudag::Stream());
    CHECK(exec.replays() == 1);
}

TEST_CASE("nodes stand in the order in which they were made", "[graph]") {
    const DeviceBuffer<int> cell(1);
    std::vector<int> host(1);
    GraphBuilder b({.races = cudag::Races::allowed});
    const auto kernel = b.kernel({}, store, cell, 1);
    const auto memcpy = b.memcpy(host, cell);
    const auto function = b.host([] {}).after(memcpy);
    const auto join = b.join(kernel);
    const auto memset = b.memset(cell, 0);
    kernel.after(memset);
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 5);
    CHECK(graph.nodes() == std::vector<Node>{kernel, memcpy, function, join, memset});
}

TEST_CASE("edges stand in the order in which they were added", "[graph]") {
    GraphBuilder b;
    const auto x = b.kernel({}, nothing);
    const auto y = b.kernel({}, nothing);
    const auto z = b.kernel({}, nothing);
    z.after(y);
    y.after(x);
    z.after(x);
    const Graph graph = std::move(b).build();
    CHECK(graph.edge_count() == 3);
    CHECK(graph.edges() == std::vector<Edge>{{y, z}, {x, y}, {x, z}});
}

TEST_CASE("nodes are found by label, all of them, in order", "[graph]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b({.races = cudag::Races::allowed});
    const auto first = b.kernel({}, store, cell, 1).label("twice");
    b.kernel({}, store, cell, 2).label("once");
    const auto third = b.memset(cell, 0).label("twice");
    const Graph graph = std::move(b).build();
    CHECK(graph.find("twice") == std::vector<Node>{first, third});
    CHECK(graph.find("never").empty());
    CHECK(graph.find("Twice").empty());
}

TEST_CASE("nodes are found by kernel, typed, in order", "[graph]") {
    const DeviceBuffer<int> cells(2);
    GraphBuilder b({.races = cudag::Races::allowed});
    const auto first = b.kernel({}, store, cells, 1);
    b.kernel({}, add, cells.data() + 1, cells, 2);
    b.memset(cells, 0);
    const auto second = b.kernel({}, store, cells, 3);
    const Graph graph = std::move(b).build();
    const std::vector<cudag::KernelNode<int*, int>> found = graph.find(store);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == first);
    CHECK(found[1] == second);
    CHECK(graph.find(add).size() == 1);
    CHECK(graph.find(nothing).empty());
}

TEST_CASE("CUDA's graph has all nodes and edges", "[graph]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const auto kernel = b.kernel({}, store, cell, 1);
    const auto memset = b.memset(cell, 0);
    const auto host = b.host([] {}).after(kernel, memset);
    kernel.after(memset);
    const Graph graph = std::move(b).build();
    static_cast<void>(graph.instantiate({.plan = cudag::Plan::as_written()}));
    const cudaGraph_t native = graph.native();
    CHECK(native_nodes(native) == std::vector{kernel.native(), memset.native(), host.native()});
    CHECK(native_edges(native) == NativeEdges{{kernel.native(), host.native()},
                                              {memset.native(), host.native()},
                                              {memset.native(), kernel.native()}});
}

TEST_CASE("asking for CUDA's graph twice gives the same graph, with each edge once", "[graph]") {
    GraphBuilder b;
    const auto x = b.kernel({}, nothing);
    b.kernel({}, nothing).after(x);
    const Graph graph = std::move(b).build();
    const cudaGraph_t native = graph.native();
    CHECK(graph.native() == native);
    CHECK(native_edges(native).size() == 1);
}

TEST_CASE("what CUDA clones of the native graph keeps the owners", "[owners]") {
    const DeviceBuffer<int> memory(1);
    std::weak_ptr<int> watched;
    cudaGraph_t copy = nullptr;
    {
        const std::shared_ptr<int> owner(memory.data(), [](int*) {});
        watched = owner;
        GraphBuilder b;
        b.kernel({}, store, owner, 1);
        const Graph graph = std::move(b).build();
        cudag::check(cudaGraphClone(&copy, graph.native()));
    }
    CHECK_FALSE(watched.expired());
    cudag::check(cudaGraphDestroy(copy));
    CHECK(released(watched, cudag::Stream()));
}
