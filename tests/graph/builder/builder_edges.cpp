// Edges: after, join, merging, and cycles.
#include <algorithm>
#include <array>
#include <list>

#include "native.hpp"

using cudag::DeviceBuffer;
using cudag::Edge;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Node;

namespace {

/// A kernel node that does nothing.
cudag::KernelNode<> point(GraphBuilder& b, const char* label) {
    return b.kernel({}, nothing).label(label);
}

} // namespace

TEST_CASE("after adds one edge for each node", "[builder][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y");
    const auto z = point(b, "z").after(x, y);
    const cudag::Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{x, z}, {y, z}});
}

TEST_CASE("after takes ranges of handles, mixed with handles", "[builder][edges]") {
    GraphBuilder b;
    const std::vector<cudag::KernelNode<>> kernels{point(b, "a"), point(b, "b")};
    const std::array<Node, 1> nodes{point(b, "c")};
    const std::list<cudag::HostNode> hosts{b.host([] {})};
    const auto last = point(b, "last");
    const auto end = point(b, "end").after(kernels, last, nodes, hosts);
    const cudag::Graph graph = std::move(b).build();
    CHECK(graph.edges() ==
          std::vector<Edge>{{kernels[0], end}, {kernels[1], end}, {last, end}, {nodes[0], end}, {hosts.front(), end}});
}

TEST_CASE("after an empty range adds nothing", "[builder][edges]") {
    GraphBuilder b;
    point(b, "alone").after(std::vector<Node>());
    CHECK(std::move(b).build().edge_count() == 0);
}

TEST_CASE("after may be called again, and on nodes made earlier", "[builder][edges]") {
    GraphBuilder b;
    const auto first = point(b, "first");
    const auto second = point(b, "second");
    first.after(second);
    const auto third = point(b, "third");
    first.after(third);
    const cudag::Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{second, first}, {third, first}});
}

TEST_CASE("after returns the typed handle", "[builder][edges]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const auto x = point(b, "x");
    const cudag::KernelNode<int*, int> node = b.kernel({}, store, cell, 1).after(x).label("store");
    CHECK(node.label() == "store");
}

TEST_CASE("a repeated edge counts once, in the graph and in CUDA", "[builder][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y");
    const auto z = point(b, "z").after(x, x).after(y);
    z.after(x, y);
    const cudag::Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{x, z}, {y, z}});
    CHECK(graph.edge_count() == 2);
    CHECK(native_edges(graph.native()) == NativeEdges{{x.native(), z.native()}, {y.native(), z.native()}});
}

TEST_CASE("an edge makes a node wait", "[builder][edges]") {
    const auto cells = device({0, 0, 0});
    int* const p = cells.data();
    GraphBuilder b;
    const auto last = b.kernel({}, add, p + 2, p + 1, 100);
    const auto middle = b.kernel({}, add, p + 1, p, 10);
    const auto first = b.kernel({}, store, p, 1);
    last.after(middle);
    middle.after(first);
    run(std::move(b));
    CHECK(read(cells) == std::vector{1, 11, 111});
}

TEST_CASE("join waits for all branches", "[builder][edges]") {
    const auto cells = device({0, 0, 0, 0});
    int* const p = cells.data();
    GraphBuilder b;
    const auto left = b.kernel({}, store, p, 1);
    const auto right = b.kernel({}, store, p + 1, 2);
    const auto join = b.join(left, right);
    b.kernel({}, add, p + 2, p, 10).after(join);
    b.kernel({}, add, p + 3, p + 1, 20).after(join);
    run(std::move(b));
    CHECK(read(cells) == std::vector{1, 2, 11, 22});
}

TEST_CASE("join has an edge from every node, and takes ranges", "[builder][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const std::vector<cudag::KernelNode<>> more{point(b, "y"), point(b, "z")};
    const auto join = b.join(x, more);
    const cudag::Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{x, join}, {more[0], join}, {more[1], join}});
}

TEST_CASE("join takes a range alone", "[builder][edges]") {
    GraphBuilder b;
    const std::vector<cudag::KernelNode<>> both{point(b, "x"), point(b, "y")};
    const auto join = b.join(both);
    CHECK(join.location().line == __LINE__ - 1);
    const cudag::Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{both[0], join}, {both[1], join}});
}

TEST_CASE("a node after itself is refused", "[builder][edges]") {
    GraphBuilder b;
    const auto node = point(b, "ouroboros");
    const auto error = refused<GraphError>([&] { node.after(node); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("\"ouroboros\"") && ContainsSubstring("after itself"));
    CHECK(error.labels() == Labels{"ouroboros"});
    CHECK(std::move(b).build().edge_count() == 0);
}

TEST_CASE("a cycle is refused with its path by label", "[builder][edges]") {
    GraphBuilder b;
    const auto outside = point(b, "outside");
    const auto one = point(b, "one").after(outside);
    const auto two = point(b, "two").after(one);
    const auto three = point(b, "three").after(two);
    one.after(three);
    const auto error = refused<GraphError>([&] { static_cast<void>(std::move(b).build()); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(error.labels() == Labels{"one", "two", "three"});
    CHECK(error.location().line == one.location().line);
    const std::string text = error.what();
    const std::vector positions{text.find("\"one\""), text.find("\"two\""), text.find("\"three\""),
                                text.rfind("\"one\"")};
    CAPTURE(text);
    CHECK(positions[0] < positions[1]);
    CHECK(positions[1] < positions[2]);
    CHECK(positions[2] < positions[3]);
    CHECK(positions[3] != std::string::npos);
    CHECK_THAT(text, ContainsSubstring("cycle") && ContainsSubstring(__FILE__) && !ContainsSubstring("outside"));
}

TEST_CASE("a cycle of nodes without labels is told by kernel and kind", "[builder][edges]") {
    GraphBuilder b;
    const auto kernel = b.kernel({}, nothing);
    const auto host = b.host([] {}).after(kernel);
    kernel.after(host);
    const auto error = refused<GraphError>([&] { b.check(); });
    CHECK_THAT(error.what(), ContainsSubstring("kernel nothing") && ContainsSubstring("host"));
}

TEST_CASE("the second of two branches may hold the cycle", "[builder][edges]") {
    GraphBuilder b;
    const auto root = point(b, "root");
    const auto sound = point(b, "sound").after(root);
    const auto broken = point(b, "broken").after(root);
    const auto back = point(b, "back").after(broken, sound);
    broken.after(back);
    Labels cycle = refused<GraphError>([&] { b.check(); }).labels();
    std::sort(cycle.begin(), cycle.end());
    CHECK(cycle == Labels{"back", "broken"});
}

TEST_CASE("an order that runs against the nodes' order is no cycle", "[builder][edges]") {
    GraphBuilder b;
    std::vector<cudag::KernelNode<>> nodes;
    for (int i = 0; i < 20; ++i)
        nodes.push_back(b.kernel({}, nothing));
    for (std::size_t i = 1; i < nodes.size(); ++i)
        nodes[i - 1].after(nodes[i]);
    nodes[0].after(nodes[19], nodes[10]);
    CHECK_NOTHROW(b.check());
    CHECK(std::move(b).build().edge_count() == 21);
}

TEST_CASE("check refuses what build would refuse and changes nothing", "[builder][edges]") {
    GraphBuilder b;
    const auto one = point(b, "one");
    const auto two = point(b, "two").after(one);
    CHECK_NOTHROW(b.check());
    one.after(two);
    CHECK(refused<GraphError>([&] { b.check(); }).labels() == Labels{"one", "two"});
    CHECK(refused<GraphError>([&] { b.check(); }).labels() == Labels{"one", "two"});
}

TEST_CASE("a builder is usable after a refused build", "[builder][edges]") {
    GraphBuilder b;
    const auto one = point(b, "one");
    const auto two = point(b, "two").after(one);
    one.after(two);
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(std::move(b).build()); }));
    const auto three = point(b, "three").after(two); // NOLINT(bugprone-use-after-move): a refused build moves nothing
    CHECK(three.label() == "three");
    CHECK(two.label() == "two");
    CHECK(refused<GraphError>([&] { b.check(); }).labels() == Labels{"one", "two"});
}

TEST_CASE("after is refused once the graph is built", "[builder][edges]") {
    GraphBuilder b;
    const auto one = point(b, "one");
    const auto two = point(b, "two");
    const cudag::Graph graph = std::move(b).build();
    const auto error = refused<GraphError>([&] { two.after(one); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("\"two\"") && ContainsSubstring("built"));
    CHECK(error.labels() == Labels{"two"});
    CHECK(graph.edge_count() == 0);
}

TEST_CASE("a label may be given after the graph is built", "[builder]") {
    GraphBuilder b;
    const auto one = point(b, "one");
    const cudag::Graph graph = std::move(b).build();
    one.label("late");
    CHECK(graph.find("late") == std::vector<Node>{one});
    CHECK(graph.find("one").empty());
}
