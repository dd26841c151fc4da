// Reading a graph back: in which order, and into arrays of which size.
#include "nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

/// Six nodes, and edges added in no order of theirs: 5>2 0>4 3>2 0>2 1>4.
struct Six {
    Graph graph;
    Nodes n;

    Six() {
        for (int i = 0; i < 6; ++i) {
            n.push_back(add_empty(graph));
        }
        const Nodes from{n[5], n[0], n[3], n[0], n[1]};
        const Nodes to{n[2], n[4], n[2], n[2], n[4]};
        REQUIRE_CUDA(cudaGraphAddDependencies(graph, from.data(), to.data(), nullptr, 5));
    }
};

const auto filler = untouched<cudaGraphNode_t>();

} // namespace

TEST_CASE("nodes are listed in the order of their creation", "[queries]") {
    const Six g;
    REQUIRE(nodes_of(g.graph) == g.n);
}

TEST_CASE("edges are listed by their first node, then in the order of adding", "[queries]") {
    const Six g;
    REQUIRE(edges_of(g.graph) ==
            Edges{{g.n[0], g.n[4]}, {g.n[0], g.n[2]}, {g.n[1], g.n[4]}, {g.n[3], g.n[2]}, {g.n[5], g.n[2]}});
}

TEST_CASE("dependencies and dependents are listed in the order of adding", "[queries]") {
    const Six g;
    Nodes nodes(3, filler);
    std::size_t count = 3;
    REQUIRE_CUDA(cudaGraphNodeGetDependencies(g.n[2], nodes.data(), nullptr, &count));
    REQUIRE(count == 3);
    REQUIRE(nodes == Nodes{g.n[5], g.n[3], g.n[0]});
    count = 2;
    nodes.assign(2, filler);
    REQUIRE_CUDA(cudaGraphNodeGetDependentNodes(g.n[0], nodes.data(), nullptr, &count));
    REQUIRE(count == 2);
    REQUIRE(nodes == Nodes{g.n[4], g.n[2]});

    count = 9;
    REQUIRE_CUDA(cudaGraphNodeGetDependencies(g.n[0], nullptr, nullptr, &count));
    REQUIRE(count == 0);
}

TEST_CASE("roots are the nodes without dependencies", "[queries]") {
    const Six g;
    std::size_t count = 0;
    REQUIRE_CUDA(cudaGraphGetRootNodes(g.graph, nullptr, &count));
    REQUIRE(count == 4);
    Nodes roots(4, filler);
    REQUIRE_CUDA(cudaGraphGetRootNodes(g.graph, roots.data(), &count));
    REQUIRE(roots == Nodes{g.n[5], g.n[3], g.n[1], g.n[0]});
}

TEST_CASE("a short array is filled, and the count stays", "[queries]") {
    const Six g;
    Nodes nodes(3, filler);
    std::size_t count = 2;
    REQUIRE_CUDA(cudaGraphGetNodes(g.graph, nodes.data(), &count));
    REQUIRE(count == 2);
    REQUIRE(nodes == Nodes{g.n[0], g.n[1], filler});

    Nodes from(3, filler);
    Nodes to(3, filler);
    REQUIRE_CUDA(cudaGraphGetEdges(g.graph, from.data(), to.data(), nullptr, &count));
    REQUIRE(count == 2);
    REQUIRE(from == Nodes{g.n[0], g.n[0], filler});
    REQUIRE(to == Nodes{g.n[4], g.n[2], filler});
}

TEST_CASE("a long array is filled up with null, and the count set", "[queries]") {
    const Six g;
    Nodes nodes(9, filler);
    std::size_t count = 8;
    REQUIRE_CUDA(cudaGraphGetNodes(g.graph, nodes.data(), &count));
    REQUIRE(count == 6);
    Nodes expected = g.n;
    expected.insert(expected.end(), {nullptr, nullptr, filler});
    REQUIRE(nodes == expected);

    Nodes from(8, filler);
    Nodes to(8, filler);
    count = 7;
    REQUIRE_CUDA(cudaGraphGetEdges(g.graph, from.data(), to.data(), nullptr, &count));
    REQUIRE(count == 5);
    REQUIRE(from[5] == nullptr);
    REQUIRE(to[6] == nullptr);
    REQUIRE(from[7] == filler);
}

TEST_CASE("plain edges have edge data of zero", "[queries]") {
    const Six g;
    Nodes from(5);
    Nodes to(5);
    cudaGraphEdgeData dirty{};
    dirty.from_port = 3;
    dirty.type = 3;
    std::vector<cudaGraphEdgeData> data(5, dirty);
    std::size_t count = 5;
    REQUIRE_CUDA(cudaGraphGetEdges(g.graph, from.data(), to.data(), data.data(), &count));
    REQUIRE(std::all_of(data.begin(), data.end(), [](const cudaGraphEdgeData& edge) {
        return edge.from_port == 0 && edge.to_port == 0 && edge.type == 0;
    }));
}

TEST_CASE("an empty graph has no nodes, roots or edges", "[queries]") {
    Graph graph;
    std::size_t count = 9;
    REQUIRE_CUDA(cudaGraphGetNodes(graph, nullptr, &count));
    REQUIRE(count == 0);
    count = 9;
    REQUIRE_CUDA(cudaGraphGetRootNodes(graph, nullptr, &count));
    REQUIRE(count == 0);
    count = 9;
    REQUIRE_CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    REQUIRE(count == 0);
}

TEST_CASE("bad query arguments are refused", "[queries]") {
    const Six g;
    Nodes nodes(9, filler);
    std::size_t count = 9;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphGetNodes(nullptr, nullptr, &count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphGetNodes(g.graph, nodes.data(), nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphGetEdges(g.graph, nodes.data(), nullptr, nullptr, &count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphGetEdges(g.graph, nullptr, nullptr, nullptr, nullptr));
    count = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphGetNodes(g.graph, nodes.data(), &count));
    REQUIRE(nodes == Nodes(9, filler));
}

TEST_CASE("a graph is written as DOT, if the file can be", "[queries][dot]") {
    const Six g;
    const std::filesystem::path path = std::filesystem::temp_directory_path() / "conformance_graph.dot";
    REQUIRE_CUDA(cudaGraphDebugDotPrint(g.graph, path.c_str(), 0));
    std::string first_word;
    std::ifstream(path) >> first_word;
    std::filesystem::remove(path);
    REQUIRE(first_word == "digraph");
    REQUIRE_CUDA_ERROR(cudaErrorOperatingSystem, cudaGraphDebugDotPrint(g.graph, "/no/such/directory/graph.dot", 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphDebugDotPrint(g.graph, nullptr, 0));
}
