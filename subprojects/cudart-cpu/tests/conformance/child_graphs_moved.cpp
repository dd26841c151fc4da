// Graphs that were moved into a node: what the user may still do with them.
#include "child.hpp"
#include "resource.hpp"

#include <vector>

// Before CUDA 12.9 a child graph is always cloned.
#if CUDART_VERSION >= 12090

namespace {

cudaError_t move_into(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraph_t child) {
    cudaGraphNodeParams params = child_params(child);
    params.graph.ownership = cudaGraphChildGraphOwnershipMove;
    return cudaGraphAddNode(node, graph, nullptr, nullptr, 0, &params);
}

struct Moved {
    Moved() {
        REQUIRE_CUDA(cudaGraphCreate(&child, 0));
        inner = add_kernel(child, call);
        REQUIRE_CUDA(move_into(&node, graph, child));
    }

    Stream stream;
    DeviceInts data{2};
    Call<int*, int, int> call{store, data.data(), 0, 5};
    Graph graph;
    cudaGraph_t child = nullptr;
    cudaGraphNode_t inner = nullptr;
    cudaGraphNode_t node = nullptr;
};

} // namespace

TEST_CASE("a moved child is the node's graph: its handle and its nodes stay as they were", "[child][move]") {
    Moved f;
    REQUIRE(graph_inside(f.node) == f.child);
    REQUIRE(nodes_of(f.child) == Nodes{f.inner});
    Exec(f.graph).run(f.stream);
    REQUIRE(f.data.read() == std::vector{5, poison});
}

TEST_CASE("nodes are added to a moved child, and changed", "[child][move]") {
    Moved f;
    Call more(store, f.data.data(), 1, 6);
    add_kernel(f.child, more, {f.inner});
    f.call.argument<2>() = 7;
    const cudaKernelNodeParams params = f.call.params();
    REQUIRE_CUDA(cudaGraphKernelNodeSetParams(f.inner, &params));
    Exec(f.graph).run(f.stream);
    REQUIRE(f.data.read() == std::vector{7, 6});
}

TEST_CASE("a moved child is destroyed with its parent", "[child][move][user_objects]") {
    Resource resource;
    Graph graph;
    cudaGraph_t child = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&child, 0));
    give(child, resource);
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(move_into(&node, graph, child));
    REQUIRE(resource.destroyed == 0);
    graph.destroy();
    REQUIRE(resource.destroyed == 1);
}

TEST_CASE("a moved child cannot be destroyed by itself", "[child][move]") {
    Moved f;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphDestroy(f.child));
    Exec(f.graph).run(f.stream);
    REQUIRE(f.data.read() == std::vector{5, poison});
}

TEST_CASE("a moved child cannot be instantiated by itself", "[child][move]") {
    Moved f;
    auto exec = untouched<cudaGraphExec_t>();
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphInstantiateWithFlags(&exec, f.child, 0));
}

TEST_CASE("a moved child cannot be given to a second parent", "[child][move]") {
    Moved f;
    Graph second;
    auto node = untouched<cudaGraphNode_t>();
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphAddChildGraphNode(&node, second, nullptr, 0, f.child));
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, move_into(&node, second, f.child));
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, move_into(&node, f.graph, f.child));
    REQUIRE(nodes_of(second).empty());
    REQUIRE(nodes_of(f.graph) == Nodes{f.node});
}

TEST_CASE("a moved child cannot update an executable graph", "[child][move][exec_update]") {
    Moved f;
    Graph other;
    add_kernel(other, f.call);
    const Exec exec(other);
    cudaGraphExecUpdateResultInfo info{};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecUpdate(exec, f.child, &info));
}

#endif
