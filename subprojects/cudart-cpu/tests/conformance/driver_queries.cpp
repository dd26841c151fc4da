// A graph's nodes, their kinds and dependencies, read through the driver.
#include "driver.hpp"

#include <vector>

namespace {

const auto get_nodes = [] { return entry_point<PFN_cuGraphGetNodes_v10000>("cuGraphGetNodes", 12000); };
const auto get_type = [] { return entry_point<PFN_cuGraphNodeGetType_v10000>("cuGraphNodeGetType", 12000); };
const auto get_dependencies = [] {
    return entry_point<PFN_cuGraphNodeGetDependencies_v12030>("cuGraphNodeGetDependencies", 12040);
};
const auto get_params = [] {
    return entry_point<PFN_cuGraphKernelNodeGetParams_v12000>("cuGraphKernelNodeGetParams", 12000);
};

} // namespace

TEST_CASE("the driver lists nodes in their order, as many as there is room for", "[driver]") {
    Graph graph;
    const auto list = get_nodes();
    auto untouched_node = untouched<CUgraphNode>();
    std::vector<CUgraphNode> nodes(4, untouched_node);
    std::size_t count = 4;
    REQUIRE(list(graph, nodes.data(), &count) == CUDA_SUCCESS);
    REQUIRE(count == 0);

    const cudaGraphNode_t first = add_empty(graph);
    const cudaGraphNode_t second = add_empty(graph);
    REQUIRE(list(graph, nullptr, &count) == CUDA_SUCCESS);
    REQUIRE(count == 2);
    count = 4;
    REQUIRE(list(graph, nodes.data(), &count) == CUDA_SUCCESS);
    REQUIRE(count == 2);
    REQUIRE(nodes == std::vector<CUgraphNode>{first, second, nullptr, nullptr});
    count = 1;
    nodes.assign(4, untouched_node);
    REQUIRE(list(graph, nodes.data(), &count) == CUDA_SUCCESS);
    REQUIRE(count == 1);
    REQUIRE(nodes[0] == first);
    REQUIRE(nodes[1] == untouched_node);
}

TEST_CASE("the driver tells a node's kind", "[driver]") {
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    CUgraphNodeType type{};
    REQUIRE(get_type()(add_kernel(graph, set), &type) == CUDA_SUCCESS);
    REQUIRE(type == CU_GRAPH_NODE_TYPE_KERNEL);
    REQUIRE(get_type()(add_empty(graph), &type) == CUDA_SUCCESS);
    REQUIRE(type == CU_GRAPH_NODE_TYPE_EMPTY);
}

TEST_CASE("the driver gives each node an id for tools, since CUDA 13.1", "[driver]") {
    int version = 0;
    REQUIRE(cudaDriverGetVersion(&version) == cudaSuccess);
    if (version < 13010) return;
    const auto id_of =
        entry_point<CUresult(CUDAAPI*)(CUgraphNode, unsigned long long*)>("cuGraphNodeGetToolsId", 13010);
    Graph graph;
    Graph other;
    std::vector<unsigned long long> ids;
    for (const cudaGraphNode_t node : {add_empty(graph), add_empty(graph), add_empty(other)}) {
        unsigned long long id = 0;
        unsigned long long again = 0;
        REQUIRE(id_of(node, &id) == CUDA_SUCCESS);
        REQUIRE(id_of(node, &again) == CUDA_SUCCESS);
        REQUIRE(id == again);
        for (const unsigned long long former : ids)
            REQUIRE(id != former);
        ids.push_back(id);
    }
}

TEST_CASE("the driver tells what a node depends on, and how", "[driver]") {
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    const cudaGraphNode_t first = add_kernel(graph, set);
    const cudaGraphNode_t second = add_kernel(graph, set);
    const cudaGraphNode_t last = add_kernel(graph, set, {first});
    cudaGraphEdgeData early{};
    early.type = cudaGraphDependencyTypeProgrammatic;
    early.from_port = cudaGraphKernelNodePortProgrammatic;
    REQUIRE_CUDA(cudaGraphAddDependencies(graph, &second, &last, &early, 1));

    const auto ask = get_dependencies();
    std::vector<CUgraphNode> nodes(4);
    std::vector<CUgraphEdgeData> data_of(4);
    std::size_t count = 4;
    REQUIRE(ask(last, nodes.data(), data_of.data(), &count) == CUDA_SUCCESS);
    REQUIRE(count == 2);
    const std::size_t programmatic = nodes[0] == second ? 0 : 1;
    REQUIRE(nodes[programmatic] == second);
    REQUIRE(nodes[1 - programmatic] == first);
    REQUIRE(data_of[programmatic].from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
    REQUIRE(data_of[1 - programmatic].from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT);

    REQUIRE(ask(last, nullptr, nullptr, &count) == CUDA_SUCCESS);
    REQUIRE(count == 2);
    count = 4;
    REQUIRE(ask(first, nodes.data(), data_of.data(), &count) == CUDA_SUCCESS);
    REQUIRE(count == 0);
    count = 4;
    REQUIRE(ask(last, nodes.data(), nullptr, &count) == CUDA_ERROR_LOSSY_QUERY);
}

TEST_CASE("a failing query of the driver returns its code and leaves the last error alone", "[driver][last_error]") {
    std::size_t count = 0;
    CUgraphNodeType type{};
    REQUIRE(get_nodes()(nullptr, nullptr, &count) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(get_type()(nullptr, &type) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(get_dependencies()(nullptr, nullptr, nullptr, &count) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("the driver names a node's kernel on its device and on all", "[driver]") {
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    CUDA_KERNEL_NODE_PARAMS params{};
    REQUIRE(get_params()(add_kernel(graph, set), &params) == CUDA_SUCCESS);
    cudaKernel_t kernel = nullptr;
    REQUIRE_CUDA(cudaGetKernel(&kernel, set.function()));
    REQUIRE(params.func == function_of(set.function()));
    REQUIRE(params.kern == reinterpret_cast<CUkernel>(kernel));
    REQUIRE(params.ctx != nullptr);
}

TEST_CASE("the driver shows arguments as they were given: one by one, or as one block", "[driver]") {
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    CUDA_KERNEL_NODE_PARAMS params{};
    REQUIRE(get_params()(add_kernel(graph, set), &params) == CUDA_SUCCESS);
    REQUIRE(params.kernelParams != nullptr);
    REQUIRE(params.extra == nullptr);

    struct {
        int* p;
        int index;
        int value;
    } block{data.data(), 0, 7};
    std::size_t bytes = sizeof block;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    cudaKernelNodeParams packed = set.params();
    packed.kernelParams = nullptr;
    packed.extra = extra;
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &packed));
    REQUIRE(get_params()(node, &params) == CUDA_SUCCESS);
    REQUIRE(params.kernelParams == nullptr);
    REQUIRE(params.extra != nullptr);
    const int* values = nullptr;
    for (void** each = params.extra; *each != CU_LAUNCH_PARAM_END; each += 2)
        if (*each == CU_LAUNCH_PARAM_BUFFER_POINTER) values = static_cast<const int*>(each[1]);
    REQUIRE(values != nullptr);
    REQUIRE(values[3] == 7);
}
