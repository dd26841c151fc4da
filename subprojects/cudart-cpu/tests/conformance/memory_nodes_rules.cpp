// What cannot be done with graphs that have alloc or free nodes.
#include "child.hpp"
#include "memory_nodes.hpp"

#include <vector>

namespace {

/// alloc > empty > free, and a node beside them.
struct Rules {
    Graph graph;
    Allocation allocation = add_alloc(graph, 4);
    cudaGraphNode_t between = add_empty(graph, {allocation.node});
    cudaGraphNode_t free = add_free(graph, allocation.data, {between});
    cudaGraphNode_t beside = add_empty(graph);
};

#if CUDART_VERSION >= 12090
cudaGraphNodeParams child(cudaGraph_t graph, cudaGraphChildGraphNodeOwnership ownership) {
    cudaGraphNodeParams params = child_params(graph);
    params.graph.ownership = ownership;
    return params;
}
#endif

} // namespace

TEST_CASE("no node and no edge of a graph with memory nodes can be removed", "[graph][memory_nodes]") {
    Rules r;
    for (const cudaGraphNode_t node : {r.allocation.node, r.between, r.free, r.beside}) {
        REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphDestroyNode(node));
    }
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphRemoveDependencies(r.graph, &r.between, &r.free, nullptr, 1));
    REQUIRE(nodes_of(r.graph).size() == 4);
    REQUIRE(edges_of(r.graph).size() == 2);
}

TEST_CASE("a graph in which an allocation has failed keeps its edges, too", "[graph][memory_nodes]") {
    Graph graph;
    const cudaGraphNode_t first = add_empty(graph), second = add_empty(graph, {first});
    cudaMemAllocNodeParams params = alloc_params(std::size_t{1} << 60);
    cudaGraphNode_t node = nullptr;
    REQUIRE(cudaGraphAddMemAllocNode(&node, graph, &second, 1, &params) != cudaSuccess);
    static_cast<void>(cudaGetLastError());
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1));
    REQUIRE(edges_of(graph).size() == 1);
}

TEST_CASE("edges and nodes can be added to a graph with memory nodes", "[graph][memory_nodes]") {
    Rules r;
    add_edge(r.graph, r.beside, r.free);
    add_empty(r.graph, {r.free});
    REQUIRE(edges_of(r.graph).size() == 4);
}

TEST_CASE("a graph with only a free node obeys the same rules", "[graph][memory_nodes]") {
    const LeavingGraph leaving;
    const FreeingGraph freeing(leaving.data());
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphDestroyNode(freeing.node));
    cudaGraph_t clone = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphClone(&clone, freeing.graph));
}

TEST_CASE("a graph with memory nodes cannot be cloned", "[clone][memory_nodes]") {
    const Rules r;
    auto clone = untouched<cudaGraph_t>();
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphClone(&clone, r.graph));
}

TEST_CASE("a graph with memory nodes has one executable graph at a time", "[instantiate][memory_nodes]") {
    const Rules r;
    Exec exec(r.graph);
    auto second = untouched<cudaGraphExec_t>();
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphInstantiate(&second, r.graph, 0));
    REQUIRE(second == untouched<cudaGraphExec_t>());
    cudaGraphInstantiateParams params{};
    params.result_out = cudaGraphInstantiateSuccess;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphInstantiateWithParams(&second, r.graph, &params));
    REQUIRE(params.result_out == cudaGraphInstantiateError);
    REQUIRE(params.errNode_out == nullptr);
    exec.destroy();
    const Exec next(r.graph);
}

#if CUDART_VERSION >= 12090
TEST_CASE("a graph with memory nodes becomes a child graph only when it is moved", "[child][memory_nodes]") {
    Stream stream;
    Graph parent;
    cudaGraph_t inner = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&inner, 0));
    PinnedInts back(1);
    const Allocation allocation = add_alloc(inner, 4);
    const cudaGraphNode_t set = add_memset(inner, set_ints(allocation.data, 4, 5), {allocation.node});
    const cudaGraphNode_t down = add_memcpy(inner, back.data(), allocation.data, 4, cudaMemcpyDeviceToHost, {set});
    add_free(inner, allocation.data, {down});

    auto node = untouched<cudaGraphNode_t>();
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, inner));
    cudaGraphNodeParams params = child(inner, cudaGraphChildGraphOwnershipClone);
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphAddNode(&node, parent, nullptr, nullptr, 0, &params));
    params = child(inner, cudaGraphChildGraphOwnershipMove);
    REQUIRE_CUDA(cudaGraphAddNode(&node, parent, nullptr, nullptr, 0, &params));

    Exec exec(parent);
    exec.run(stream);
    exec.run(stream);
    REQUIRE(back[0] == 5);
    cudaGraphExec_t second = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphInstantiate(&second, parent, 0));
    cudaGraph_t clone = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphClone(&clone, parent));
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphDestroyNode(node));
}
#endif

TEST_CASE("a graph with memory nodes cannot be launched from the device", "[instantiate][memory_nodes]") {
    const Rules r;
    cudaGraphExec_t exec = nullptr;
    cudaGraphInstantiateParams params{};
    params.flags = cudaGraphInstantiateFlagDeviceLaunch;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, r.graph, &params));
    REQUIRE(params.result_out == cudaGraphInstantiateNodeOperationNotSupported);
}

TEST_CASE("a whole update from the own graph is possible with memory nodes", "[exec_update][whole][memory_nodes]") {
    Stream stream;
    LeavingGraph leaving(7);
    const Exec exec(leaving.graph);
    const cudaMemsetParams params = set_ints(leaving.data(), 4, 8);
    REQUIRE_CUDA(cudaGraphMemsetNodeSetParams(leaving.set, &params));
    REQUIRE_CUDA(cudaGraphExecUpdate(exec, leaving.graph, nullptr));
    exec.run(stream);
    REQUIRE(first_of(leaving.data()) == 8);
    REQUIRE_CUDA(cudaFree(leaving.data()));
}

TEST_CASE("a graph with memory nodes that has an executable graph cannot update another",
          "[exec_update][whole][memory_nodes]") {
    Stream stream;
    const LeavingGraph first(1);
    const LeavingGraph second(2);
    const Exec exec(first.graph);
    const Exec other(second.graph);
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphExecUpdate(exec, second.graph, nullptr));
    exec.run(stream);
    REQUIRE(first_of(first.data()) == 1);
    REQUIRE_CUDA(cudaFree(first.data()));
}

TEST_CASE("a whole update from another graph moves to the memory that it leaves",
          "[exec_update][whole][memory_nodes]") {
    Stream stream;
    const LeavingGraph first(1);
    const LeavingGraph second(2);
    const Exec exec(first.graph);
    exec.run(stream);
    REQUIRE_CUDA(cudaGraphExecUpdate(exec, second.graph, nullptr));
    cudaGraphExec_t other = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphInstantiate(&other, second.graph, 0));
    const Exec again(first.graph);
    exec.run(stream);
    REQUIRE(first_of(first.data()) == 1);
    REQUIRE(first_of(second.data()) == 2);
    REQUIRE_CUDA(cudaFree(first.data()));
    REQUIRE_CUDA(cudaFree(second.data()));
}

TEST_CASE("a whole update cannot move an operand to memory that the other graph frees",
          "[exec_update][whole][memory_nodes]") {
    Stream stream;
    LeavingGraph first;
    LeavingGraph second;
    add_free(first.graph, first.data(), {first.set});
    add_free(second.graph, second.data(), {second.set});
    const Exec exec(first.graph);
    cudaGraphExecUpdateResultInfo info{};
    REQUIRE_CUDA_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, second.graph, &info));
    REQUIRE(info.result == cudaGraphExecUpdateError);
    REQUIRE(info.errorNode == second.set);
    exec.run(stream);
}
