// Graphs and executable graphs that stay somebody else's.
#include "native.hpp"
#include "native_nodes.hpp"
#include "watched.hpp"

#include <optional>
#include <utility>

using cudag::arg;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::NodeKind;
using cudag::Stream;

namespace {

/// A graph of CUDA's own functions: two rows of `width` kernels, the second after the first by an empty node.
struct Raw {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;

    explicit Raw(int* cell, std::size_t width = 1) {
        cudag::check(cudaGraphCreate(&graph, 0));
        const auto row = [&](std::vector<cudaGraphNode_t> after, int value) {
            std::vector<cudaGraphNode_t> nodes(width);
            for (cudaGraphNode_t& node : nodes) {
                void* arguments[] = {&cell, &value};
                cudaKernelNodeParams launch{};
                launch.func = const_cast<void*>(cudag::detail::kernel_symbol(store));
                launch.gridDim = launch.blockDim = dim3(1);
                launch.kernelParams = arguments;
                node = add_native_kernel(graph, after, launch);
            }
            return nodes;
        };
        const std::vector<cudaGraphNode_t> first = row({}, 1);
        const cudaGraphNode_t barrier = add_native_empty(graph, first);
        row({barrier}, 2);
    }
    ~Raw() {
        if (exec != nullptr) CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
        CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    }
    Raw(const Raw&) = delete;
    Raw& operator=(const Raw&) = delete;

    void instantiate() { cudag::check(cudaGraphInstantiate(&exec, graph, 0)); }
    void run() const {
        const Stream stream;
        cudag::check(cudaGraphLaunch(exec, stream.get()));
        stream.synchronize();
    }
};

} // namespace

TEST_CASE("a view shows and updates a graph that stays somebody else's", "[graph][view]") {
    const auto cell = device({0});
    Raw raw(cell.data());
    {
        Graph view = Graph::view(raw.graph);
        CHECK(view.native() == raw.graph);
        CHECK(view.node_count() == 3);
        CHECK(view.edge_count() == 2);
        const auto stores = view.find(store);
        REQUIRE(stores.size() == 2);
        view.update(stores[1], arg<1>(20));
        Exec exec = view.instantiate();
        run(exec, Stream());
        CHECK(read(cell) == std::vector{20});
    }
    raw.instantiate();
    write(cell.span(), {0});
    raw.run();
    CHECK(read(cell) == std::vector{20});
}

TEST_CASE("no plan changes the edges of a viewed graph", "[graph][view]") {
    const auto cell = device({0});
    Raw raw(cell.data(), 40);
    const std::size_t edges = native_edges(raw.graph).size();
    const Graph view = Graph::view(raw.graph);
    Exec exec = view.instantiate();
    run(exec, Stream());
    CHECK(native_edges(raw.graph).size() == edges);
    CHECK(view.node_count() == 81);
    Exec wide = view.instantiate({.plan = {.lanes = 2}});
    CHECK(native_edges(raw.graph).size() == edges);
    std::size_t nodes = 0;
    cudag::check(cudaGraphGetNodes(raw.graph, nullptr, &nodes));
    CHECK(nodes == 81);
}

TEST_CASE("no plan changes the edges inside a viewed graph", "[graph][view]") {
    cudaGraph_t inside = nullptr, around = nullptr;
    cudag::check(cudaGraphCreate(&inside, 0));
    std::vector<cudaGraphNode_t> line; // each node after all before it
    for (int i = 0; i < 3; ++i) {
        line.push_back(add_native_empty(inside, line));
    }
    cudag::check(cudaGraphCreate(&around, 0));
    const cudaGraphNode_t child = add_native_child(around, {}, inside);
    cudag::check(cudaGraphDestroy(inside));
    cudaGraph_t const native = native_child(child);
    {
        const Graph view = Graph::view(around);
        Exec exec = view.instantiate();
        CHECK(native_edges(native).size() == 3);
        run(exec, Stream());
    }
    cudag::check(cudaGraphDestroy(around));
}

TEST_CASE("a viewed graph is cloned into another one, and never moved", "[child][view]") {
    const auto cell = device({0});
    Raw raw(cell.data());
    Graph view = Graph::view(raw.graph);
    GraphBuilder b;
    CHECK_THAT(refused<GraphError>([&] { b.child(std::move(view)); }).what(),
               ContainsSubstring("a view, which owns no CUDA graph to move; pass it without std::move"));
    b.child(view); // NOLINT: it was refused
    run(std::move(b));
    CHECK(read(cell) == std::vector{2});
    Exec exec = view.clone().instantiate();
    run(exec, Stream());
}

TEST_CASE("a view launches and updates an exec that stays somebody else's", "[exec][view]") {
    const auto cell = device({0});
    Raw raw(cell.data());
    raw.instantiate();
    Raw other(cell.data());
    const Graph graph = Graph::view(raw.graph);
    {
        Exec view = Exec::view(raw.exec, graph);
        CHECK(view.native() == raw.exec);
        view.update(graph.find(store)[1], arg<1>(7));
        run(view, Stream());
        CHECK(read(cell) == std::vector{7});
        view.disable(graph.find(store)[1]);
        run(view, Stream());
        CHECK(read(cell) == std::vector{1});
        view.enable(graph.find(store)[1]);
        CHECK(view.update(Graph::view(other.graph)).updated());
        run(view, Stream());
        CHECK(read(cell) == std::vector{2});
        view.update(graph.find(store)[1], arg<1>(8));
    }
    raw.run();
    CHECK(read(cell) == std::vector{8});
}

TEST_CASE("a child that a library fills is updated after the library has changed its graph", "[child][view]") {
    const auto cell = device({0});
    Raw raw(cell.data()); // the library's
    GraphBuilder b;
    const Graph first = Graph::view(raw.graph);
    const auto child = b.child(first);
    Exec exec = std::move(b).build().instantiate();
    const auto refresh = [&](int value) {
        const cudaGraphNode_t last = native_nodes(raw.graph).back();
        int* to = cell.data();
        void* arguments[] = {&to, &value};
        set_native_arguments(last, cudag::detail::kernel_symbol(store), arguments);
        exec.update(child, Graph::view(raw.graph));
    };
    const Stream stream;
    for (const int value : {5, 6}) {
        refresh(value);
        run(exec, stream);
        CHECK(read(cell) == std::vector{value});
    }
}

TEST_CASE("what a viewed exec is updated with is kept until its launches have ended", "[owners][view]") {
    const auto cell = device({0});
    Raw raw(cell.data());
    raw.instantiate();
    const Graph graph = Graph::view(raw.graph);
    const Stream stream;
    std::weak_ptr<void> kept;
    {
        Exec view = Exec::view(raw.exec, graph);
        {
            const DeviceBuffer<int> other(1);
            kept = other.owner();
            for (const auto& node : graph.find(store))
                view.update(node, arg<0>(other));
        }
        CHECK_FALSE(kept.expired());
        run(view, stream);
        CHECK_FALSE(kept.expired());
    }
    CHECK(released(kept, stream));
}

TEST_CASE("there is no view of nothing, nor of an exec of a graph inside another one", "[graph][view]") {
    const auto cell = device({0});
    CHECK_THAT(refused<GraphError>([] { static_cast<void>(Graph::view(nullptr)); }).what(),
               ContainsSubstring("view: the graph is null"));
    Raw raw(cell.data());
    raw.instantiate();
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(Exec::view(nullptr, Graph::view(raw.graph))); }).what(),
               ContainsSubstring("view: the executable graph is null"));
    const Graph view = Graph::view(raw.graph);
    GraphBuilder b;
    const auto child = b.child(view);
    const Graph outer = std::move(b).build();
    CHECK_THROWS_AS(Exec::view(raw.exec, child.graph()), GraphError);
}
