// Clones: independent graphs whose nodes can be found from the original's.
#include "nodes.hpp"

#include <vector>

namespace {

void require_not_found(cudaGraphNode_t node, cudaGraph_t clone) {
    auto found = untouched<cudaGraphNode_t>();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeFindInClone(&found, node, clone));
    REQUIRE(found == nullptr);
}

} // namespace

TEST_CASE("a clone has the nodes in the same order, and the edges", "[clone]") {
    Graph graph;
    Nodes n;
    for (int i = 0; i < 4; ++i) {
        n.push_back(add_empty(graph));
    }
    add_edge(graph, n[0], n[3]);
    add_edge(graph, n[0], n[1]);
    add_edge(graph, n[2], n[1]);
    Graph clone(nullptr);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
    Nodes c;
    for (const cudaGraphNode_t node : n) {
        c.push_back(in_clone(node, clone));
    }
    REQUIRE(nodes_of(clone) == c);
    REQUIRE(edges_of(graph) == Edges{{n[0], n[3]}, {n[0], n[1]}, {n[2], n[1]}});
    // The edges of one node come in the order of creation of the nodes that they lead to.
    REQUIRE(edges_of(clone) == Edges{{c[0], c[1]}, {c[0], c[3]}, {c[2], c[1]}});
}

TEST_CASE("a clone runs after its original is gone", "[clone]") {
    Stream stream;
    DeviceInts data(1);
    Call call(store, data.data(), 0, 5);
    Graph clone(nullptr);
    {
        Graph graph;
        add_kernel(graph, call);
        REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
    }
    const Exec exec(clone);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{5});
    REQUIRE(nodes_of(clone).size() == 1);
}

TEST_CASE("a clone and its original change independently", "[clone]") {
    Stream stream;
    DeviceInts data(1);
    Call call(store, data.data(), 0, 5);
    Graph graph;
    const cudaGraphNode_t node = add_kernel(graph, call);
    Graph clone(nullptr);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
    call.argument<2>() = 6;
    const cudaKernelNodeParams params = call.params();
    REQUIRE_CUDA(cudaGraphKernelNodeSetParams(node, &params));
    add_empty(graph);
    const Exec exec(clone);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{5});
    REQUIRE(nodes_of(clone).size() == 1);
}

TEST_CASE("only nodes that were cloned, and still are there, are found in a clone", "[clone]") {
    Graph graph;
    const cudaGraphNode_t kept = add_empty(graph);
    const cudaGraphNode_t removed = add_empty(graph);
    Graph clone(nullptr);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
    const cudaGraphNode_t late = add_empty(graph);
    REQUIRE_CUDA(cudaGraphDestroyNode(in_clone(removed, clone)));

    require_not_found(late, clone);
    require_not_found(removed, clone);
    require_not_found(kept, graph);
    require_not_found(in_clone(kept, clone), clone);
    require_not_found(add_empty(clone), clone);
}

TEST_CASE("a clone of a clone knows the nodes of the clone", "[clone]") {
    Graph graph;
    const cudaGraphNode_t node = add_empty(graph);
    Graph clone(nullptr);
    Graph second(nullptr);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
    REQUIRE_CUDA(cudaGraphClone(second.out(), clone));
    REQUIRE(nodes_of(second) == Nodes{in_clone(in_clone(node, clone), second)});
    require_not_found(node, second);
}

TEST_CASE("a graph with a cycle can be cloned", "[clone]") {
    Graph graph;
    const cudaGraphNode_t one = add_empty(graph);
    const cudaGraphNode_t two = add_empty(graph, {one});
    add_edge(graph, two, one);
    Graph clone(nullptr);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
    REQUIRE(edges_of(clone).size() == 2);
}

TEST_CASE("bad clone arguments are refused", "[clone]") {
    Graph graph;
    const cudaGraphNode_t node = add_empty(graph);
    Graph clone(nullptr);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphClone(clone.out(), nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphClone(nullptr, graph));
    REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
    cudaGraphNode_t found = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeFindInClone(nullptr, node, clone));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeFindInClone(&found, nullptr, clone));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeFindInClone(&found, node, nullptr));
}
