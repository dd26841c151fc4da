// What CUDA is given of the edges that a graph is written with.
#include "graph/native_edges.hpp"

#include "catch.hpp"
#include "cuda_edges.hpp"

#include <cudag/error.hpp>

#include <algorithm>
#include <utility>
#include <vector>

using cudag::EdgeKind;
using cudag::detail::EdgeRecord;
using cudag::detail::NativeEdges;
using List = std::vector<EdgeRecord>;

namespace {

/// A graph of CUDA's with empty nodes.
struct Native {
    explicit Native(std::size_t count) : nodes(count) {
        REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
        for (cudaGraphNode_t& node : nodes)
            REQUIRE(cudaGraphAddEmptyNode(&node, graph, nullptr, 0) == cudaSuccess);
    }
    ~Native() { cudaGraphDestroy(graph); }
    Native(const Native&) = delete;
    Native& operator=(const Native&) = delete;

    /// An edge that CUDA makes by itself, as in a capture.
    void record(std::uint32_t from, std::uint32_t to, NativeEdges& edges) {
        REQUIRE(add_dependencies(graph, &nodes[from], &nodes[to], nullptr, 1) == cudaSuccess);
        edges.note({from, to});
    }
    [[nodiscard]] List edges() const {
        std::size_t count = 0;
        REQUIRE(get_edges(graph, nullptr, nullptr, nullptr, &count) == cudaSuccess);
        std::vector<cudaGraphNode_t> from(count);
        std::vector<cudaGraphNode_t> to(count);
        REQUIRE(get_edges(graph, from.data(), to.data(), nullptr, &count) == cudaSuccess);
        List list;
        for (std::size_t i = 0; i < count; ++i)
            list.push_back({number(from[i]), number(to[i])});
        std::sort(list.begin(), list.end(), [](const EdgeRecord& a, const EdgeRecord& b) {
            return std::pair(a.to, a.from) < std::pair(b.to, b.from);
        });
        return list;
    }
    [[nodiscard]] std::uint32_t number(cudaGraphNode_t node) const {
        return static_cast<std::uint32_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
    }

    cudaGraph_t graph = nullptr;
    std::vector<cudaGraphNode_t> nodes;
};

} // namespace

TEST_CASE("CUDA gets the edges that it lacks, and each once") {
    Native cuda(4);
    NativeEdges edges;
    List wanted{{0, 1}, {1, 2}};
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == wanted);
    wanted.push_back({2, 3});
    edges.become(wanted, 2, cuda.graph, cuda.nodes); // CUDA refuses what it has
    CHECK(cuda.edges() == wanted);
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    CHECK(edges.list() == wanted);
}

TEST_CASE("edges that CUDA has recorded between those that it lacks are not added again") {
    Native cuda(5);
    NativeEdges edges;
    edges.become(List{{0, 1}}, 0, cuda.graph, cuda.nodes);
    cuda.record(2, 3, edges);
    const List wanted{{0, 1}, {0, 2}, {2, 3}, {3, 4}};
    edges.become(wanted, 1, cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == wanted);
    CHECK(edges.list() == wanted);
}

TEST_CASE("after edges were forgotten with their nodes, CUDA gets the others that it lacks") {
    Native cuda(4);
    NativeEdges edges;
    edges.become(List{{0, 1}, {1, 3}, {0, 2}}, 0, cuda.graph, cuda.nodes);
    REQUIRE(cudaGraphDestroyNode(cuda.nodes.back()) == cudaSuccess);
    edges.forget_nodes(3);
    CHECK(edges.list() == List{{0, 1}, {0, 2}});
    const List wanted{{0, 1}, {0, 2}, {1, 2}};
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == wanted);
}

TEST_CASE("an edge that CUDA refuses leaves those of calls before it noted") {
    Native cuda(3);
    NativeEdges edges;
    const List wanted{{0, 1}, {1, 2, EdgeKind::programmatic}};
    CHECK_THROWS_AS(edges.become(wanted, 0, cuda.graph, cuda.nodes),
                    cudag::GraphError); // not between empty nodes
    CHECK(edges.list() == List{{0, 1}});
    CHECK(cuda.edges() == List{{0, 1}});
}
