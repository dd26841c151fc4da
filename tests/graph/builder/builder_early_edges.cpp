// Edges that wait for a part of a kernel only: made, merged, refused.
#include "test.hpp"

using cudag::Edge;
using cudag::EdgeKind;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::launch_completion;
using cudag::programmatic;

namespace {

cudag::KernelNode<> point(GraphBuilder& b, const char* label) {
    return b.kernel({}, nothing).label(label);
}

} // namespace

TEST_CASE("an edge is full unless it is made otherwise", "[builder][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    point(b, "y").after(x);
    CHECK(std::move(b).build().edges().at(0).kind == EdgeKind::full);
}

TEST_CASE("programmatic and launch_completion make edges of their kind", "[builder][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(programmatic(x));
    const auto z = point(b, "z").after(launch_completion(y));
    const Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{x, y, EdgeKind::programmatic}, {y, z, EdgeKind::launch_completion}});
}

TEST_CASE("after takes early edges mixed with handles and ranges", "[builder][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const std::vector<cudag::KernelNode<>> many{point(b, "many 0"), point(b, "many 1")};
    const auto y = point(b, "y");
    const auto host = b.host([] {});
    const cudag::KernelNode<> last = point(b, "last").after(host, programmatic(x), many, launch_completion(y));
    const Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{host, last},
                                             {x, last, EdgeKind::programmatic},
                                             {many[0], last},
                                             {many[1], last},
                                             {y, last, EdgeKind::launch_completion}});
}

TEST_CASE("kernels of different parameters may be joined by an early edge", "[builder][edges]") {
    const auto cells = device({0, 0});
    GraphBuilder b;
    const auto first = b.kernel({}, store, cells, 5);
    const cudag::KernelNode<> second = point(b, "second").after(programmatic(first));
    CHECK(std::move(b).build().edges() == std::vector<Edge>{{first, second, EdgeKind::programmatic}});
}

TEST_CASE("two edges of different kinds between two nodes are refused by name", "[builder][edges]") {
    GraphBuilder b;
    const auto x = point(b, "producer");
    const auto y = point(b, "consumer").after(programmatic(x));
    point(b, "other").after(x, y);
    y.after(x);
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto error = refused<GraphError>([&] {
            if (attempt == 0)
                b.check();
            else
                static_cast<void>(std::move(b).build());
        });
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK(error.labels() == Labels{"producer", "consumer"});
        CHECK(error.location().line == y.location().line);
        CHECK_THAT(error.what(), ContainsSubstring("\"producer\"") && ContainsSubstring("\"consumer\"") &&
                                     ContainsSubstring("programmatic") && ContainsSubstring("full"));
    }
}

TEST_CASE("programmatic and launch_completion contradict each other as well", "[builder][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    point(b, "y").after(launch_completion(x), programmatic(x));
    CHECK(refused<GraphError>([&] { b.check(); }).labels() == Labels{"x", "y"});
}

TEST_CASE("early edges close a cycle as full ones do", "[builder][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(programmatic(x));
    x.after(launch_completion(y));
    const auto error = refused<GraphError>([&] { b.check(); });
    CHECK(error.labels() == Labels{"x", "y"});
    CHECK_THAT(error.what(), ContainsSubstring("cycle"));
}

TEST_CASE("an early edge to itself is refused", "[builder][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    CHECK_THAT(refused<GraphError>([&] { x.after(programmatic(x)); }).what(), ContainsSubstring("after itself"));
    CHECK(std::move(b).build().edge_count() == 0);
}

TEST_CASE("an early edge from another graph is refused, with all edges of the call", "[builder][edges]") {
    GraphBuilder other;
    const auto foreign = point(other, "foreign");
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y");
    const auto error = refused<GraphError>([&] { y.after(programmatic(x), programmatic(foreign)); });
    CHECK_THAT(error.what(), ContainsSubstring("\"foreign\"") && ContainsSubstring("another graph"));
    CHECK(std::move(b).build().edge_count() == 0);
}

TEST_CASE("DOT text shows early edges dashed, with their kind", "[graph][dot]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(programmatic(x));
    point(b, "z").after(launch_completion(y), x);
    const std::string dot = std::move(b).build().dot();
    CHECK_THAT(dot, ContainsSubstring("n0 -> n1 [style=dashed, label=\"programmatic\"];") &&
                        ContainsSubstring("n1 -> n2 [style=dashed, label=\"launch_completion\"];") &&
                        ContainsSubstring("n0 -> n2;"));
}
