// Edges: adding and removing them, and how much of a failing call stays.
#include "nodes.hpp"

#include <cstddef>

namespace {

struct Four {
    Graph graph;
    Nodes n;

    Four() {
        for (int i = 0; i < 4; ++i) {
            n.push_back(add_empty(graph));
        }
    }
    cudaError_t add(const Nodes& from, const Nodes& to) const {
        return cudaGraphAddDependencies(graph, from.data(), to.data(), nullptr, from.size());
    }
    cudaError_t remove(const Nodes& from, const Nodes& to) const {
        return cudaGraphRemoveDependencies(graph, from.data(), to.data(), nullptr, from.size());
    }
};

} // namespace

TEST_CASE("edges are added and removed", "[edges]") {
    const Four g;
    REQUIRE_CUDA(g.add({g.n[0], g.n[1]}, {g.n[1], g.n[2]}));
    REQUIRE(edges_of(g.graph) == Edges{{g.n[0], g.n[1]}, {g.n[1], g.n[2]}});
    REQUIRE_CUDA(g.remove({g.n[0]}, {g.n[1]}));
    REQUIRE(edges_of(g.graph) == Edges{{g.n[1], g.n[2]}});
    REQUIRE_CUDA(g.add({g.n[0]}, {g.n[1]}));
    REQUIRE(edges_of(g.graph).size() == 2);
}

TEST_CASE("adding and removing no edge at all succeeds", "[edges]") {
    const Four g;
    REQUIRE_CUDA(cudaGraphAddDependencies(g.graph, nullptr, nullptr, nullptr, 0));
    REQUIRE_CUDA(cudaGraphRemoveDependencies(g.graph, nullptr, nullptr, nullptr, 0));
    REQUIRE(edges_of(g.graph).empty());
}

TEST_CASE("an edge that exists is refused", "[edges]") {
    const Four g;
    REQUIRE_CUDA(g.add({g.n[0]}, {g.n[1]}));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.add({g.n[0]}, {g.n[1]}));
    REQUIRE(edges_of(g.graph).size() == 1);
}

TEST_CASE("a call that fails at a duplicate edge keeps the edges before it", "[edges]") {
    const Four g;
    REQUIRE_CUDA(g.add({g.n[0]}, {g.n[1]}));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.add({g.n[1], g.n[0], g.n[2]}, {g.n[2], g.n[1], g.n[3]}));
    REQUIRE(edges_of(g.graph) == Edges{{g.n[0], g.n[1]}, {g.n[1], g.n[2]}});

    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.add({g.n[2], g.n[2]}, {g.n[3], g.n[3]}));
    REQUIRE(edges_of(g.graph).size() == 3);
}

TEST_CASE("a call with an impossible edge adds none", "[edges]") {
    const Four g;
    const Four other;
    const cudaGraphNode_t dead = add_empty(g.graph);
    REQUIRE_CUDA(cudaGraphDestroyNode(dead));
    const auto refuse = [&](cudaGraphNode_t from, cudaGraphNode_t to) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.add({g.n[0], from}, {g.n[3], to}));
        REQUIRE(edges_of(g.graph).empty());
    };
    refuse(g.n[1], g.n[1]);
    refuse(nullptr, g.n[1]);
    refuse(g.n[1], nullptr);
    refuse(other.n[0], g.n[1]);
    refuse(g.n[1], other.n[0]);
    refuse(dead, g.n[1]);
}

TEST_CASE("edges need a graph, the nodes' own, and arrays", "[edges]") {
    const Four g;
    const Four other;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddDependencies(nullptr, &g.n[0], &g.n[1], nullptr, 1));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddDependencies(other.graph, &g.n[0], &g.n[1], nullptr, 1));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddDependencies(g.graph, nullptr, nullptr, nullptr, 1));
    REQUIRE(edges_of(g.graph).empty());
}

TEST_CASE("an edge that closes a cycle is accepted", "[edges]") {
    const Four g;
    REQUIRE_CUDA(g.add({g.n[0]}, {g.n[1]}));
    REQUIRE_CUDA(g.add({g.n[1]}, {g.n[0]}));
    REQUIRE(edges_of(g.graph) == Edges{{g.n[0], g.n[1]}, {g.n[1], g.n[0]}});
}

TEST_CASE("removing a missing edge fails, after the ones before it were removed", "[edges]") {
    const Four g;
    REQUIRE_CUDA(g.add({g.n[0], g.n[1], g.n[2]}, {g.n[1], g.n[2], g.n[3]}));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.remove({g.n[3]}, {g.n[0]}));
    REQUIRE(edges_of(g.graph).size() == 3);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.remove({g.n[0], g.n[3], g.n[1]}, {g.n[1], g.n[0], g.n[2]}));
    REQUIRE(edges_of(g.graph) == Edges{{g.n[1], g.n[2]}, {g.n[2], g.n[3]}});
}

TEST_CASE("edge data is all zero, or valid for its nodes", "[edges]") {
    const Four g;
    const auto add = [&](const cudaGraphEdgeData& data) {
        return cudaGraphAddDependencies(g.graph, &g.n[0], &g.n[1], &data, 1);
    };
    cudaGraphEdgeData data{};
    data.from_port = cudaGraphKernelNodePortProgrammatic;
    data.type = cudaGraphDependencyTypeProgrammatic;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(data));
    data = {};
    data.to_port = 1;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(data));
    data = {};
    data.type = 9;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(data));
    data = {};
    data.reserved[0] = 1;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(data));
    REQUIRE(edges_of(g.graph).empty());
    REQUIRE_CUDA(add({}));
    REQUIRE(edges_of(g.graph).size() == 1);
}
