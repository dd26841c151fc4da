// Edges that are taken back before build().
#include <string>
#include <vector>

#include "cuda_edges.hpp"
#include "test.hpp"

using cudag::CapturedNode;
using cudag::Edge;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::launch;
using cudag::Node;
using cudag::Plan;
using cudag::Stream;

namespace {

auto point(GraphBuilder& b, const char* label) {
    return b.kernel({}, nothing).label(label);
}

GraphError check_refused(const std::string& text, CallRef<> call) {
    const auto error = refused<GraphError>(call);
    CHECK_THAT(error.what(), StartsWith("cudag: ") && ContainsSubstring(text));
    return error;
}

std::size_t native_edges(const Graph& graph) {
    std::size_t count = 0;
    REQUIRE(get_edges(graph.native(), nullptr, nullptr, nullptr, &count) == cudaSuccess);
    return count;
}

} // namespace

TEST_CASE("a removed edge orders no more, and the others stay", "[builder][remove]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(x, x);
    const auto z = point(b, "z").after(x, y);
    b.remove_edge(x, y);
    check_refused("there is no such edge", [&] { b.remove_edge(x, y); });
    const Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{x, z}, {y, z}});
    CHECK(native_edges(graph) == 2);
}

TEST_CASE("an edge that does not exist is refused, by the names of both nodes", "[builder][remove]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y");
    const auto z = point(b, "z").after(x, y);
    const auto error = check_refused("it does not come after kernel \"z\" at ", [&] { b.remove_edge(z, x); });
    CHECK_THAT(error.what(), ContainsSubstring("remove_edge: kernel \"x\" at "));
    CHECK(error.labels() == Labels{"z", "x"});
    check_refused("there is no such edge", [&] { b.remove_edges(std::vector<Edge>{{x, z}, {x, y}}); });
    check_refused("there is no such edge", [&] { b.remove_edge(std::vector<Node>{x, z}, z); });
    GraphBuilder other;
    const auto stranger = point(other, "stranger");
    check_refused("another graph", [&] { b.remove_edge(stranger, z); });
    CHECK(std::move(b).build().edge_count() == 2);
}

TEST_CASE("an edge that is named twice is taken back once", "[builder][remove]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(x);
    const auto z = point(b, "z").after(x, y);
    b.remove_edges(std::vector<Edge>{{x, z}, {x, y}, {x, z}});
    CHECK(std::move(b).build().edges() == std::vector<Edge>{{y, z}});
}

TEST_CASE("a cycle is mended by taking an edge back", "[builder][remove]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(x);
    x.after(y);
    check_refused("cycle", [&] { b.check(); });
    b.remove_edge(y, x);
    CHECK(std::move(b).build().edge_count() == 1);
}

TEST_CASE("edges of all kinds are taken back, also two that contradict each other", "[builder][remove]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(cudag::programmatic(x)).after(x);
    const auto z = point(b, "z").after(cudag::programmatic(y));
    check_refused("CUDA allows one edge between two nodes", [&] { b.check(); });
    b.remove_edge(x, y);
    b.remove_edges(std::vector<Edge>{{y, z, cudag::EdgeKind::programmatic}});
    y.after(x);
    const Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{x, y}});
}

TEST_CASE("edges of ranges and of regions are taken back as they were written", "[capture][region][remove]") {
    const auto cells = device({0, 0, 0});
    const Stream stream;
    GraphBuilder b({.races = cudag::Races::allowed});
    const std::vector<Node> first{point(b, "a"), point(b, "b")};
    const CapturedNode region = b.capture(stream, [&](cudaStream_t s) {
                                     launch(s, {}, store, cells.data(), 1);
                                     launch(s, {}, store, cells.data(), 2);
                                 }).after(first);
    const auto last = point(b, "last").after(region, first);
    b.remove_edge(first, region);
    b.remove_edge(region, last);
    b.remove_edge(std::vector<Node>{first[0]}, last);
    const Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{region.nodes()[0], region.nodes()[1]}, {first[1], last}});
    CHECK(native_edges(graph) == 2);
}

TEST_CASE("CUDA keeps the edges that it has of a graph with memory nodes, and no others", "[memory][remove]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(x);
    const auto memory = b.alloc<int>(4, {.after = {y}}).label("memory");
    const auto use = b.memset(memory.span(), 1).label("use").after(memory, x);
    check_refused("CUDA has the edge from kernel \"x\" at ", [&] { b.remove_edge(x, y); });
    check_refused("remove edges before the first alloc()", [&] { b.remove_edge(y, memory); });
    b.remove_edge(x, use);
    const Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{x, y}, {y, memory}, {memory, use}});
    static_cast<void>(graph.instantiate({.auto_free_on_launch = true}));
    CHECK(native_edges(graph) == 3);
}

TEST_CASE("CUDA keeps the edges that it has where an allocation has failed", "[memory][remove]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(x);
    const auto z = point(b, "z").after(x, y);
    check_refused("", [&] { b.alloc<int>(std::size_t{1} << 60, {.after = {z}}); });
    check_refused("or in which an allocation has failed", [&] { b.remove_edge(y, z); });
    b.remove_edge(x, z); // which others imply: CUDA does not have it
    const Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{x, y}, {y, z}});
    static_cast<void>(graph.instantiate());
    CHECK(native_edges(graph) == 2);
}
