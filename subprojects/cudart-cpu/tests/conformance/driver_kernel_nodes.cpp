// Kernel nodes added, read and updated through the driver.
#include "driver.hpp"

#include <thread>
#include <vector>

namespace {

template <class... P>
CUDA_KERNEL_NODE_PARAMS driver_params(Call<P...>& call) {
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = function_of(call.function());
    params.gridDimX = call.grid.x;
    params.gridDimY = call.grid.y;
    params.gridDimZ = call.grid.z;
    params.blockDimX = call.block.x;
    params.blockDimY = call.block.y;
    params.blockDimZ = call.block.z;
    params.kernelParams = call.arguments();
    return params;
}

const auto get_add = [] { return entry_point<PFN_cuGraphAddKernelNode_v12000>("cuGraphAddKernelNode", 12000); };
const auto get_set = [] {
    return entry_point<PFN_cuGraphExecKernelNodeSetParams_v12000>("cuGraphExecKernelNodeSetParams", 12000);
};

} // namespace

TEST_CASE("a kernel node added through the driver is a node like any other", "[driver]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    const auto add_node = get_add();
    CUgraphNode first = nullptr;
    CUgraphNode second = nullptr;
    CUDA_KERNEL_NODE_PARAMS params = driver_params(set);
    REQUIRE(add_node(&first, graph, nullptr, 0, &params) == CUDA_SUCCESS);
    params = driver_params(plus);
    REQUIRE(add_node(&second, graph, &first, 1, &params) == CUDA_SUCCESS);
    plus.argument<2>() = 1000;

    REQUIRE(nodes_of(graph) == Nodes{first, second});
    REQUIRE(edges_of(graph) == Edges{{first, second}});
    auto type = cudaGraphNodeTypeCount;
    REQUIRE_CUDA(cudaGraphNodeGetType(first, &type));
    REQUIRE(type == cudaGraphNodeTypeKernel);
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("a kernel node of an executable graph is updated through the driver", "[driver]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    const cudaGraphNode_t node = add_kernel(graph, set);
    const Exec exec(graph);
    set.argument<2>() = 2;
    const CUDA_KERNEL_NODE_PARAMS params = driver_params(set);
    REQUIRE(get_set()(exec, node, &params) == CUDA_SUCCESS);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{2});
}

TEST_CASE("a kernel node added through the driver names its kernel's symbol", "[driver]") {
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    CUgraphNode node = nullptr;
    const CUDA_KERNEL_NODE_PARAMS params = driver_params(set);
    REQUIRE(get_add()(&node, graph, nullptr, 0, &params) == CUDA_SUCCESS);
    cudaKernelNodeParams read{};
    REQUIRE_CUDA(cudaGraphKernelNodeGetParams(node, &read));
    REQUIRE(read.func == set.function());
    REQUIRE(*static_cast<int*>(read.kernelParams[2]) == 1);
}

TEST_CASE("a thread that made a Runtime call may add and update kernel nodes through the driver", "[driver][threads]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    const auto add_node = get_add();
    const auto set_node = get_set();
    CUDA_KERNEL_NODE_PARAMS params = driver_params(set);
    CUgraphNode node = nullptr;
    CUresult code = CUDA_ERROR_UNKNOWN;
    std::thread([&] {
        // Binds the device's context to this thread; without one the driver crashes.
        static_cast<void>(cudaSetDevice(0));
        code = add_node(&node, graph, nullptr, 0, &params);
    }).join();
    REQUIRE(code == CUDA_SUCCESS);
    const Exec exec(graph);
    set.argument<2>() = 2;
    std::thread([&] {
        static_cast<void>(cudaSetDevice(0));
        code = set_node(exec, node, &params);
    }).join();
    REQUIRE(code == CUDA_SUCCESS);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{2});
}

TEST_CASE("a failing driver call returns its code and leaves the last error alone", "[driver][last_error]") {
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    const auto add_node = get_add();
    auto node = untouched<CUgraphNode>();
    CUgraphNode none = nullptr;
    const CUDA_KERNEL_NODE_PARAMS good = driver_params(set);
    CUDA_KERNEL_NODE_PARAMS params = good;
    params.blockDimX = 2048;
    REQUIRE(add_node(&node, graph, nullptr, 0, &params) == CUDA_ERROR_INVALID_VALUE);
    params = good;
    params.gridDimX = 0;
    REQUIRE(add_node(&node, graph, nullptr, 0, &params) == CUDA_ERROR_INVALID_VALUE);
    params = good;
    params.kernelParams = nullptr;
    REQUIRE(add_node(&node, graph, nullptr, 0, &params) == CUDA_ERROR_INVALID_VALUE);
    params = good;
    params.func = nullptr;
    REQUIRE(add_node(&node, graph, nullptr, 0, &params) == CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(add_node(&node, nullptr, nullptr, 0, &good) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(add_node(nullptr, graph, nullptr, 0, &good) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(add_node(&node, graph, &none, 1, &good) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(add_node(&node, graph, nullptr, 1, &good) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(add_node(&node, graph, nullptr, 0, nullptr) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(node == untouched<CUgraphNode>());
    REQUIRE(nodes_of(graph).empty());
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a failing driver update returns its code and leaves executable graph and last error alone",
          "[driver][last_error]") {
    Stream stream;
    Graph graph;
    Graph other;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    const cudaGraphNode_t node = add_kernel(graph, set);
    const cudaGraphNode_t empty = add_empty(graph);
    const cudaGraphNode_t foreign = add_kernel(other, set);
    const Exec exec(graph);
    set.argument<2>() = 2;
    const auto set_node = get_set();
    const CUDA_KERNEL_NODE_PARAMS good = driver_params(set);
    CUDA_KERNEL_NODE_PARAMS params = good;
    params.blockDimX = 2048;
    REQUIRE(set_node(exec, node, &params) == CUDA_ERROR_INVALID_VALUE);
    params = good;
    params.func = nullptr;
    REQUIRE(set_node(exec, node, &params) == CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(set_node(exec, empty, &good) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(set_node(exec, foreign, &good) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(set_node(exec, nullptr, &good) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(set_node(nullptr, node, &good) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{1});
}

TEST_CASE("with kernel and context given, the driver needs no context of the thread", "[driver][threads]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    const auto add_node = get_add();
    const auto set_node = get_set();
    cudaKernel_t kernel = nullptr;
    CUcontext context = nullptr;
    REQUIRE_CUDA(cudaGetKernel(&kernel, set.function()));
    REQUIRE(entry_point<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 12000)(&context) == CUDA_SUCCESS);
    REQUIRE(context != nullptr);
    CUDA_KERNEL_NODE_PARAMS params = driver_params(set);
    params.func = nullptr;
    params.kern = kernel;
    params.ctx = context;
    CUgraphNode node = nullptr;
    CUresult code = CUDA_ERROR_UNKNOWN;
    std::thread([&] { code = add_node(&node, graph, nullptr, 0, &params); }).join();
    REQUIRE(code == CUDA_SUCCESS);
    const Exec exec(graph);
    set.argument<2>() = 2;
    std::thread([&] { code = set_node(exec, node, &params); }).join();
    REQUIRE(code == CUDA_SUCCESS);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{2});
}

TEST_CASE("the driver reads a kernel node's parameters, with its function", "[driver]") {
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    set.grid = dim3(2, 3, 4);
    set.block = dim3(5, 6, 7);
    const cudaGraphNode_t node = add_kernel(graph, set);
    CUDA_KERNEL_NODE_PARAMS params{};
    const auto read = entry_point<PFN_cuGraphKernelNodeGetParams_v12000>("cuGraphKernelNodeGetParams", 12000);
    REQUIRE(read(node, &params) == CUDA_SUCCESS);
    REQUIRE(params.func == function_of(set.function()));
    REQUIRE((params.gridDimX == 2 && params.gridDimY == 3 && params.gridDimZ == 4));
    REQUIRE((params.blockDimX == 5 && params.blockDimY == 6 && params.blockDimZ == 7));
    REQUIRE(*static_cast<int*>(params.kernelParams[2]) == 1);
    REQUIRE(read(add_empty(graph), &params) == CUDA_ERROR_INVALID_VALUE);
}
