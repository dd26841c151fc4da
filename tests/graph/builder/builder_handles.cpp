// Handles that are foreign, dead or empty, and objects that were moved from.
#include <optional>

#include "test.hpp"

using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Node;

namespace {

cudag::KernelNode<> point(GraphBuilder& b, const char* label) {
    return b.kernel({}, nothing).label(label);
}

} // namespace

TEST_CASE("a handle of another graph is refused by name", "[builder][handles]") {
    GraphBuilder ours;
    GraphBuilder theirs;
    const auto here = point(ours, "here");
    const auto stranger = point(theirs, "stranger");
    const auto error = refused<GraphError>([&] { here.after(stranger); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("\"stranger\"") && ContainsSubstring("another graph"));
    CHECK(error.labels() == Labels{"stranger"});
    CHECK(error.location().line == stranger.location().line);
}

TEST_CASE("a refused after adds none of its edges", "[builder][handles]") {
    GraphBuilder ours;
    GraphBuilder theirs;
    const auto first = point(ours, "first");
    const auto second = point(ours, "second");
    const auto stranger = point(theirs, "stranger");
    static_cast<void>(refused<GraphError>([&] { second.after(first, stranger); }));
    static_cast<void>(refused<GraphError>([&] { second.after(std::vector<Node>{first, stranger}); }));
    CHECK(std::move(ours).build().edge_count() == 0);
}

TEST_CASE("a refused join adds no node", "[builder][handles]") {
    GraphBuilder ours;
    GraphBuilder theirs;
    const auto here = point(ours, "here");
    const auto stranger = point(theirs, "stranger");
    const auto error = refused<GraphError>([&] { ours.join(here, stranger); });
    CHECK(error.labels() == Labels{"stranger"});
    const cudag::Graph graph = std::move(ours).build();
    CHECK(graph.node_count() == 1);
    CHECK(graph.edge_count() == 0);
}

TEST_CASE("a handle of a destroyed graph is refused", "[builder][handles]") {
    std::optional<GraphBuilder> gone(std::in_place);
    const auto node = point(*gone, "gone");
    SECTION("with its builder") {
        gone.reset();
    }
    SECTION("with its graph") {
        std::optional<cudag::Graph> graph = std::move(*gone).build();
        graph.reset();
    }
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(node.label()); }).what(),
               ContainsSubstring("no longer exists"));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(node.kind()); }));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(node.native()); }));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(node.location()); }));
    static_cast<void>(refused<GraphError>([&] { node.label("again"); }));

    GraphBuilder b;
    const auto alive = point(b, "alive");
    CHECK(refused<GraphError>([&] { alive.after(node); }).code() == cuda_code(cudaErrorInvalidValue));
    CHECK(std::move(b).build().edge_count() == 0);
}

TEST_CASE("a dead handle is no handle of a graph made later", "[builder][handles]") {
    std::optional<GraphBuilder> first(std::in_place);
    const auto dead = point(*first, "dead");
    first.reset();
    std::vector<GraphBuilder> later(8);
    for (GraphBuilder& b : later) {
        const auto node = point(b, "live");
        CHECK_FALSE(Node(node) == Node(dead));
        static_cast<void>(refused<GraphError>([&] { node.after(dead); }));
    }
}

TEST_CASE("an empty handle is refused", "[builder][handles]") {
    const Node empty;
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(empty.kind()); }).what(),
               ContainsSubstring("empty node handle"));
    GraphBuilder b;
    const auto node = point(b, "node");
    CHECK_THAT(refused<GraphError>([&] { node.after(empty); }).what(), ContainsSubstring("empty node handle"));
    CHECK_THAT(refused<GraphError>([&] { cudag::MemcpyNode().after(node); }).what(),
               ContainsSubstring("empty node handle"));
}

TEST_CASE("handles of two nodes differ, of one node are equal", "[builder][handles]") {
    GraphBuilder b;
    const auto one = point(b, "one");
    const auto two = point(b, "two");
    CHECK_FALSE(one == two);
    const Node same = one;
    CHECK(same == one);
    CHECK(Node() == Node());
}

TEST_CASE("a handle of any node becomes typed by kind", "[builder][handles]") {
    const cudag::DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const Node set = b.memset(cell, 1).label("clear");
    CHECK(set.as<cudag::MemsetNode>() == set);
    const auto error = refused<GraphError>([&] { static_cast<void>(set.as<cudag::MemcpyNode>()); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("memset \"clear\"") && ContainsSubstring("no memcpy node"));
    CHECK(error.labels() == Labels{"clear"});
}

TEST_CASE("a handle of any node becomes typed by kernel", "[builder][handles]") {
    const cudag::DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const Node kernel = b.kernel({}, store, cell, 1).label("fill");
    const cudag::KernelNode<int*, int> typed = kernel.as(store);
    CHECK(typed == kernel);
    const auto error = refused<GraphError>([&] { static_cast<void>(kernel.as(add)); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("\"fill\"") && ContainsSubstring("does not launch add"));
    CHECK(error.labels() == Labels{"fill"});
}

TEST_CASE("a node that is no kernel has no kernel", "[builder][handles]") {
    GraphBuilder b;
    const Node host = b.host([] {}).label("callback");
    const auto error = refused<GraphError>([&] { static_cast<void>(host.as(store)); });
    CHECK_THAT(error.what(), ContainsSubstring("host \"callback\"") && ContainsSubstring("does not launch store"));
}

TEST_CASE("a builder that was moved from is refused", "[builder][handles]") {
    GraphBuilder first;
    const auto node = point(first, "node");
    const GraphBuilder second = std::move(first);
    // What is left of `first` is what this test is about.
    CHECK_THAT(refused<GraphError>([&] { first.kernel({}, nothing); }).what(),
               ContainsSubstring("a moved-from GraphBuilder was used"));
    static_cast<void>(refused<GraphError>([&] { first.host([] {}); }));
    static_cast<void>(refused<GraphError>([&] { first.join(node); }));
    static_cast<void>(refused<GraphError>([&] { first.check(); }));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(std::move(first).build()); }));
}

TEST_CASE("a builder that was built is refused, until it is assigned a new one", "[builder][handles]") {
    GraphBuilder b;
    const cudag::Graph graph = std::move(b).build();
    static_cast<void>(refused<GraphError>([&] { b.kernel({}, nothing); }));
    b = GraphBuilder();
    point(b, "again");
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("a graph that was moved from is refused", "[graph][handles]") {
    GraphBuilder b;
    const auto node = point(b, "node");
    cudag::Graph first = std::move(b).build();
    const cudag::Graph second = std::move(first);
    CHECK(second.nodes() == std::vector<Node>{node});
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(first.node_count()); }).what(),
               ContainsSubstring("moved-from Graph"));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(first.edges()); }));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(first.clone()); }));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(first.native()); }));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(first.dot()); }));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(first.find("node")); }));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(first.find(nothing)); }));
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(first.instantiate()); }));
}
