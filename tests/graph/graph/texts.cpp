// Nodes, graphs, execs, reports and configurations as text, by to_string and by fmt.
#include "native.hpp"
#include "native_nodes.hpp"

#include <cudag/format.hpp>

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;

namespace {

template <class T>
std::string text_of(const T& value) {
    const std::string text = to_string(value);
    CHECK(fmt::format("{}", value) == text);
    return text;
}

std::string place(unsigned line) {
    return fmt::format("{}:{}", __FILE__, line);
}

} // namespace

TEST_CASE("a handle of any type reads as in errors", "[text]") {
    GraphBuilder b;
    const unsigned line = __LINE__ + 1;
    const auto kernel = b.kernel({}, nothing).label("first");
    const cudag::Node any = b.host([] {});
    CHECK(text_of(kernel) == "kernel \"first\" at " + place(line));
    CHECK(text_of(any) == "host node 1 at " + place(line + 1));
    CHECK(fmt::format("[{:>20}]", cudag::HostNode()) == "[   empty node handle]");
}

TEST_CASE("a handle whose graph is gone says so", "[text]") {
    const cudag::Node node = GraphBuilder().host([] {});
    CHECK(text_of(node) == "handle of a node whose graph no longer exists");
}

TEST_CASE("a graph reads as what it has, and where it was made", "[text]") {
    GraphBuilder b;
    const auto first = b.kernel({}, nothing);
    b.kernel({}, nothing).after(first);
    b.host([] {}).after(first);
    const unsigned line = __LINE__ + 1;
    Graph graph = std::move(b).build();
    CHECK(text_of(graph) == "graph of 3 nodes (2 kernel, 1 host) and 2 edges, made at " + place(line));
    CHECK(text_of(graph.clone()) == text_of(graph));
    const Graph moved = std::move(graph);
    CHECK(text_of(graph) == "moved-from Graph");
}

TEST_CASE("an empty graph, and one of CUDA's own functions, read as graphs", "[text]") {
    CHECK_THAT(text_of(GraphBuilder().build()), StartsWith("graph of 0 nodes and 0 edges, made at "));
    cudaGraph_t native = nullptr;
    cudag::check(cudaGraphCreate(&native, 0));
    add_native_empty(native);
    CHECK(text_of(Graph::adopt(native)) == "graph of 1 node (1 empty) and 0 edges");
}

TEST_CASE("a captured graph reads as made where it was captured", "[text][capture]") {
    const cudag::Stream stream;
    const unsigned line = __LINE__ + 1;
    const Graph graph = cudag::capture(stream, [](cudaStream_t s) { cudag::launch(s, {}, nothing); });
    CHECK(text_of(graph) == "graph of 1 node (1 kernel) and 0 edges, made at " + place(line));
}

TEST_CASE("an exec reads as its graph and its launches", "[text]") {
    GraphBuilder b;
    b.kernel({}, nothing);
    const unsigned line = __LINE__ + 1;
    Exec exec = std::move(b).build().instantiate();
    const std::string rest = ", of the graph made at " + place(line);
    CHECK(text_of(exec) == "exec of 1 node (1 kernel), launched 0 times" + rest);
    run(exec, cudag::Stream());
    CHECK(text_of(exec) == "exec of 1 node (1 kernel), launched 1 time" + rest);
    const Exec moved = std::move(exec);
    CHECK(text_of(exec) == "moved-from Exec");
}

TEST_CASE("a launch configuration reads as what is given", "[text]") {
    CHECK(text_of(cudag::LaunchConfig()) == "grid 1, block 1");
    CHECK(text_of(cudag::LaunchConfig{.grid = {8, 4}, .block = {16, 1, 2}, .shared_bytes = 64}) ==
          "grid 8 x 4, block 16 x 1 x 2, shared_bytes 64");
    CHECK_THAT(text_of(cudag::LaunchConfig{.grid = 8, .block = 256, .cooperative = true, .priority = -1}),
               StartsWith("grid 8, block 256, cooperative, priority -1"));
}

TEST_CASE("reports and differences read as to_string says", "[text]") {
    GraphBuilder b;
    b.kernel({}, nothing);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK(text_of(exec.update(graph)) == "updated");
    const cudag::UpdateReport refused = exec.update(GraphBuilder().build());
    CHECK_THAT(text_of(refused), StartsWith("not updated: topology_changed: "));
    CHECK_THAT(text_of(refused.differences().at(0)), EndsWith("node: there -> missing"));
    CHECK(fmt::format("{}", refused.verdict()) == "topology_changed");
    CHECK(fmt::format("{}", refused.differences().at(0).kind) == "node");
}
