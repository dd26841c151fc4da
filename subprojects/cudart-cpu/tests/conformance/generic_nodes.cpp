// The calls that take any kind of node.
#include "nodes.hpp"

#include <vector>

namespace {

void CUDART_CB increment(void* data) {
    ++*static_cast<int*>(data);
}

template <class... P>
cudaGraphNodeParams kernel_params(Call<P...>& call) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = call.function();
    params.kernel.gridDim = call.grid;
    params.kernel.blockDim = call.block;
    params.kernel.kernelParams = call.arguments();
    return params;
}

cudaGraphNodeParams params_of(cudaGraphNodeType type) {
    cudaGraphNodeParams params{};
    params.type = type;
    return params;
}

} // namespace

TEST_CASE("nodes of every kind are added through one call", "[graph][generic]") {
    Stream stream;
    Graph graph;
    DeviceInts data(2);
    int count = 0;
    Call set(store, data.data(), 0, 5);
    cudaGraphNode_t kernel = nullptr;
    cudaGraphNode_t empty = nullptr;
    cudaGraphNode_t host = nullptr;
    cudaGraphNodeParams params = kernel_params(set);
    REQUIRE_CUDA(cudaGraphAddNode(&kernel, graph, nullptr, nullptr, 0, &params));
    params = params_of(cudaGraphNodeTypeEmpty);
    REQUIRE_CUDA(cudaGraphAddNode(&empty, graph, &kernel, nullptr, 1, &params));
    params = params_of(cudaGraphNodeTypeHost);
    params.host.fn = increment;
    params.host.userData = &count;
    REQUIRE_CUDA(cudaGraphAddNode(&host, graph, &empty, nullptr, 1, &params));
    REQUIRE(nodes_of(graph) == Nodes{kernel, empty, host});
    REQUIRE(edges_of(graph) == Edges{{kernel, empty}, {empty, host}});
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{5, poison});
    REQUIRE(count == 1);
}

TEST_CASE("a node's parameters are set through one call, in the graph and in its executable graph",
          "[graph][generic][exec_update]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    const cudaGraphNode_t node = add_kernel(graph, set);
    const Exec first(graph);
    set.argument<2>() = 2;
    cudaGraphNodeParams params = kernel_params(set);
    REQUIRE_CUDA(cudaGraphExecNodeSetParams(first, node, &params));
    set.argument<2>() = 3;
    params = kernel_params(set);
    REQUIRE_CUDA(cudaGraphNodeSetParams(node, &params));
    const Exec second(graph);
    first.run(stream);
    REQUIRE(data.read() == std::vector{2});
    second.run(stream);
    REQUIRE(data.read() == std::vector{3});
}

TEST_CASE("parameters of another kind than the node's are refused", "[graph][generic][exec_update][headers]") {
    Graph graph;
    Call call(nothing);
    const cudaGraphNode_t empty = add_empty(graph);
    const Exec exec(graph);
    cudaGraphNodeParams params = kernel_params(call);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecNodeSetParams(exec, empty, &params));
    auto node = untouched<cudaGraphNode_t>();
    params = params_of(cudaGraphNodeTypeCount);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    REQUIRE(nodes_of(graph) == Nodes{empty});
}
