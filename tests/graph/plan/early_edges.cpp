// Edges that wait for a part of a kernel only, as CUDA has them.
#include <algorithm>

#include "native.hpp"
#include "waiting_kernels.hpp"

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

/// CUDA's own edge between two nodes, and what it carries.
struct NativeEdge {
    cudaGraphNode_t from;
    cudaGraphNode_t to;
    unsigned type;
    unsigned port;
    friend bool operator==(const NativeEdge&, const NativeEdge&) = default;
};

std::vector<NativeEdge> annotated_edges(cudaGraph_t graph) {
    std::size_t count = 0;
    cudag::check(get_edges(graph, nullptr, nullptr, nullptr, &count));
    std::vector<cudaGraphNode_t> from(count);
    std::vector<cudaGraphNode_t> to(count);
    std::vector<cudaGraphEdgeData> data(count);
    if (count != 0) cudag::check(get_edges(graph, from.data(), to.data(), data.data(), &count));
    std::vector<NativeEdge> edges;
    for (std::size_t i = 0; i < count; ++i) {
        CHECK(data[i].to_port == 0);
        edges.push_back({from[i], to[i], data[i].type, data[i].from_port});
    }
    return edges;
}

constexpr unsigned full_type = cudaGraphDependencyTypeDefault;
constexpr unsigned early_type = cudaGraphDependencyTypeProgrammatic;
constexpr unsigned full_port = cudaGraphKernelNodePortDefault;
constexpr unsigned trigger_port = cudaGraphKernelNodePortProgrammatic;
constexpr unsigned start_port = cudaGraphKernelNodePortLaunchCompletion;

} // namespace

TEST_CASE("CUDA gets the kind of every edge", "[builder][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(programmatic(x));
    const auto z = point(b, "z").after(launch_completion(y));
    const auto host = b.host([] {}).after(z);
    const Graph graph = std::move(b).build();
    CHECK(annotated_edges(graph.native()) ==
          std::vector<NativeEdge>{{x.native(), y.native(), early_type, trigger_port},
                                  {y.native(), z.native(), early_type, start_port},
                                  {z.native(), host.native(), full_type, full_port}});
}

TEST_CASE("a graph with early edges runs", "[builder][edges]") {
    const auto cells = device({0, 0, 0});
    GraphBuilder b;
    const auto x = b.kernel({}, store, cells.data(), 1);
    const auto y = b.kernel({}, store, cells.data() + 1, 2).after(programmatic(x));
    b.kernel({}, store, cells.data() + 2, 3).after(launch_completion(y));
    run(std::move(b));
    CHECK(read(cells) == std::vector{1, 2, 3});
}

TEST_CASE("a repeated early edge counts once", "[builder][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(programmatic(x), programmatic(x));
    y.after(programmatic(x));
    const Graph graph = std::move(b).build();
    CHECK(graph.edges() == std::vector<Edge>{{x, y, EdgeKind::programmatic}});
    CHECK(annotated_edges(graph.native()).size() == 1);
}

TEST_CASE("a clone has the kinds of its origin's edges", "[graph][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    point(b, "y").after(programmatic(x));
    const Graph clone = std::move(b).build().clone();
    const auto nodes = clone.nodes();
    CHECK(clone.edges() == std::vector<Edge>{{nodes[0], nodes[1], EdgeKind::programmatic}});
    CHECK(annotated_edges(clone.native()) ==
          std::vector<NativeEdge>{{nodes[0].native(), nodes[1].native(), early_type, trigger_port}});
}

TEST_CASE("an adopted graph has the kinds of CUDA's edges", "[graph][edges]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(programmatic(x));
    point(b, "z").after(launch_completion(y), x);
    const Graph graph = std::move(b).build();
    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, graph.native()));
    const Graph adopted = Graph::adopt(copy);
    std::vector<EdgeKind> kinds;
    for (const Edge& edge : adopted.edges())
        kinds.push_back(edge.kind);
    std::sort(kinds.begin(), kinds.end());
    CHECK(kinds == std::vector{EdgeKind::full, EdgeKind::programmatic, EdgeKind::launch_completion});
    CHECK_NOTHROW(static_cast<void>(adopted.instantiate()));
}

TEST_CASE("a kernel that synchronises over an early edge sees what came before", "[builder][edges]") {
    const auto cells = device({0, 0, 0});
    int* const p = cells.data();
    GraphBuilder b;
    const auto first = b.kernel({}, store, p, 1);
    const auto second = b.kernel({}, wait_and_add, p + 1, p, 10).after(programmatic(first));
    b.kernel({}, wait_and_add, p + 2, p + 1, 100).after(launch_completion(second));
    const Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    for (int turn = 0; turn < 20; ++turn) {
        write(cells.span(), {0, 0, 0});
        run(exec, stream);
        CHECK(read(cells) == std::vector{1, 11, 111});
    }
}
