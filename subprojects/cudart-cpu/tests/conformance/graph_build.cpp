// Graphs: creation, destruction, empty and host nodes, and what every way of adding a node refuses.
#include "nodes.hpp"

#include <functional>
#include <vector>

namespace {

void CUDART_CB do_nothing(void*) {}

/// The four ways of adding a node that need no memory.
std::vector<std::function<cudaError_t(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, std::size_t)>> adders() {
    return {
        [](auto* node, auto graph, const auto* after, auto count) {
            return cudaGraphAddEmptyNode(node, graph, after, count);
        },
        [](auto* node, auto graph, const auto* after, auto count) {
            const cudaHostNodeParams params{do_nothing, nullptr};
            return cudaGraphAddHostNode(node, graph, after, count, &params);
        },
        [](auto* node, auto graph, const auto* after, auto count) {
            Call call(nothing);
            const cudaKernelNodeParams params = call.params();
            return cudaGraphAddKernelNode(node, graph, after, count, &params);
        },
        [](auto* node, auto graph, const auto* after, auto count) {
            DeviceInts data(1);
            const cudaMemsetParams params = set_ints(data.data(), 1, 0);
            return cudaGraphAddMemsetNode(node, graph, after, count, &params);
        },
    };
}

} // namespace

TEST_CASE("a graph is made empty and destroyed once", "[graph]") {
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&graph, 0));
    REQUIRE(nodes_of(graph).empty());
    REQUIRE(edges_of(graph).empty());
    REQUIRE_CUDA(cudaGraphDestroy(graph));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphDestroy(graph));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphDestroy(nullptr));
}

TEST_CASE("graph creation refuses flags and a null result", "[graph]") {
    auto graph = untouched<cudaGraph_t>();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphCreate(&graph, 1));
    REQUIRE(graph == untouched<cudaGraph_t>());
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphCreate(nullptr, 0));
}

TEST_CASE("a destroyed graph's handle is recognised", "[graph]") {
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&graph, 0));
    REQUIRE_CUDA(cudaGraphDestroy(graph));
    std::size_t count = 0;
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphGetNodes(graph, nullptr, &count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
}

TEST_CASE("a node added with dependencies has those edges", "[graph]") {
    for (const auto& add : adders()) {
        Graph graph;
        const Nodes before{add_empty(graph), add_empty(graph)};
        cudaGraphNode_t node = nullptr;
        REQUIRE_CUDA(add(&node, graph, before.data(), 2));
        REQUIRE(nodes_of(graph) == Nodes{before[0], before[1], node});
        REQUIRE(edges_of(graph) == Edges{{before[0], node}, {before[1], node}});
    }
}

TEST_CASE("a node with a bad dependency is refused, and nothing of it stays", "[graph]") {
    for (const auto& add : adders()) {
        Graph graph;
        Graph other;
        const cudaGraphNode_t good = add_empty(graph);
        const cudaGraphNode_t foreign = add_empty(other);
        const cudaGraphNode_t dead = add_empty(graph);
        REQUIRE_CUDA(cudaGraphDestroyNode(dead));
        for (const Nodes& after : {Nodes{nullptr}, Nodes{foreign}, Nodes{dead}, Nodes{good, good}, Nodes{good, nullptr},
                                   Nodes{good, foreign}}) {
            auto node = untouched<cudaGraphNode_t>();
            REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(&node, graph, after.data(), after.size()));
            REQUIRE(node == untouched<cudaGraphNode_t>());
            REQUIRE(nodes_of(graph) == Nodes{good});
            REQUIRE(edges_of(graph).empty());
        }
    }
}

TEST_CASE("a node needs a graph, a place for its handle, and as many dependencies as it says", "[graph]") {
    for (const auto& add : adders()) {
        Graph graph;
        auto node = untouched<cudaGraphNode_t>();
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(&node, nullptr, nullptr, 0));
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(nullptr, graph, nullptr, 0));
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(&node, graph, nullptr, 1));
        REQUIRE(node == untouched<cudaGraphNode_t>());
        REQUIRE(nodes_of(graph).empty());
    }
}

TEST_CASE("a host node needs a function", "[graph][host]") {
    Graph graph;
    cudaGraphNode_t node = nullptr;
    const cudaHostNodeParams params{};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddHostNode(&node, graph, nullptr, 0, &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddHostNode(&node, graph, nullptr, 0, nullptr));
    REQUIRE(nodes_of(graph).empty());
}

TEST_CASE("a host node gives its function and data back", "[graph][host]") {
    Graph graph;
    int data = 0;
    const cudaGraphNode_t node = add_host(graph, {do_nothing, &data});
    cudaHostNodeParams params{};
    REQUIRE_CUDA(cudaGraphHostNodeGetParams(node, &params));
    REQUIRE(params.fn == do_nothing);
    REQUIRE(params.userData == &data);
}

TEST_CASE("a host node of the graph gets another function and other data", "[graph][host]") {
    Stream stream;
    Graph graph;
    int count = 0;
    const cudaGraphNode_t node = add_host(graph, {do_nothing, nullptr});
    const cudaHostNodeParams none{nullptr, &count};
    const cudaHostNodeParams params{[](void* data) { ++*static_cast<int*>(data); }, &count};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphHostNodeSetParams(node, &none));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphHostNodeSetParams(add_empty(graph), &params));
    REQUIRE_CUDA(cudaGraphHostNodeSetParams(node, &params));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(count == 1);
}

TEST_CASE("nodes know their type", "[graph]") {
    Graph graph;
    DeviceInts data(2);
    Call call(nothing);
    const auto type = [](cudaGraphNode_t node) {
        auto result = cudaGraphNodeTypeCount;
        REQUIRE_CUDA(cudaGraphNodeGetType(node, &result));
        return result;
    };
    REQUIRE(type(add_empty(graph)) == cudaGraphNodeTypeEmpty);
    REQUIRE(type(add_kernel(graph, call)) == cudaGraphNodeTypeKernel);
    REQUIRE(type(add_memset(graph, set_ints(data.data(), 1, 0))) == cudaGraphNodeTypeMemset);
    REQUIRE(type(add_memcpy(graph, data.data(), data.data() + 1, 4, cudaMemcpyDeviceToDevice)) ==
            cudaGraphNodeTypeMemcpy);
    REQUIRE(type(add_host(graph, {do_nothing, nullptr})) == cudaGraphNodeTypeHost);
    auto unused = cudaGraphNodeTypeCount;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetType(nullptr, &unused));
}

TEST_CASE("parameters are only read from a node of their type", "[graph]") {
    Graph graph;
    Call call(nothing);
    const cudaGraphNode_t kernel = add_kernel(graph, call);
    const cudaGraphNode_t host = add_host(graph, {do_nothing, nullptr});
    cudaKernelNodeParams kernel_params{};
    cudaMemcpy3DParms memcpy_params{};
    cudaMemsetParams memset_params{};
    cudaHostNodeParams host_params{};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphKernelNodeGetParams(host, &kernel_params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphMemcpyNodeGetParams(kernel, &memcpy_params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphMemsetNodeGetParams(kernel, &memset_params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphHostNodeGetParams(kernel, &host_params));
}

TEST_CASE("destroying a node removes its edges and keeps the order of the others", "[graph]") {
    Graph graph;
    Nodes nodes;
    for (int i = 0; i < 4; ++i) {
        nodes.push_back(add_empty(graph));
    }
    add_edge(graph, nodes[0], nodes[1]);
    add_edge(graph, nodes[1], nodes[2]);
    add_edge(graph, nodes[2], nodes[3]);
    REQUIRE_CUDA(cudaGraphDestroyNode(nodes[1]));
    REQUIRE(nodes_of(graph) == Nodes{nodes[0], nodes[2], nodes[3]});
    REQUIRE(edges_of(graph) == Edges{{nodes[2], nodes[3]}});
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphDestroyNode(nullptr));
}
