// The driver's calls that need a context: which Runtime calls bind one to a thread, launches, instantiation.
#include "driver.hpp"

#include <thread>
#include <vector>

namespace {

/// Whether the driver has a context on a new thread, after `call` was made there.
template <class Function>
bool bound_by(Function call) {
    const auto current = entry_point<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 12000);
    auto context = untouched<CUcontext>();
    CUresult code = CUDA_ERROR_UNKNOWN;
    std::thread([&] {
        call();
        code = current(&context);
    }).join();
    REQUIRE(code == CUDA_SUCCESS);
    REQUIRE(context != untouched<CUcontext>());
    return context != nullptr;
}

} // namespace

TEST_CASE("a new thread has no context until a Runtime call binds one", "[driver][threads]") {
    const void* const kernel = symbol(nothing);
    cudaError_t code = cudaErrorUnknown;
    REQUIRE_FALSE(bound_by([&] { code = cudaSuccess; }));
    int device = -1;
    REQUIRE_FALSE(bound_by([&] { code = cudaGetDevice(&device); }));
    REQUIRE(code == cudaSuccess);
    REQUIRE(bound_by([&] { code = cudaSetDevice(0); }));
    REQUIRE(code == cudaSuccess);
    cudaFunction_t function = nullptr;
    REQUIRE(bound_by([&] { code = cudaGetFuncBySymbol(&function, kernel); }));
    REQUIRE(code == cudaSuccess);
    cudaGraph_t made = nullptr;
    REQUIRE(bound_by([&] { code = cudaGraphCreate(&made, 0); }));
    REQUIRE(code == cudaSuccess);
    const Graph graph(made);
    cudaGraphNode_t node = nullptr;
    REQUIRE(bound_by([&] { code = cudaGraphAddEmptyNode(&node, made, nullptr, 0); }));
    REQUIRE(code == cudaSuccess);
}

TEST_CASE("without a context of thread or parameters the driver refuses a kernel handle", "[driver][threads]") {
    Graph graph;
    const auto add_node = entry_point<PFN_cuGraphAddKernelNode_v12000>("cuGraphAddKernelNode", 12000);
    cudaKernel_t kernel = nullptr;
    REQUIRE_CUDA(cudaGetKernel(&kernel, symbol(nothing)));
    CUDA_KERNEL_NODE_PARAMS params{};
    params.kern = kernel;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    CUgraphNode node = nullptr;
    CUresult code = CUDA_ERROR_UNKNOWN;
    std::thread([&] { code = add_node(&node, graph, nullptr, 0, &params); }).join();
    REQUIRE(code == CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(nodes_of(graph).empty());
}

TEST_CASE("a context has an id, the same on each thread", "[driver][threads]") {
    const auto current = entry_point<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 12000);
    const auto id_of = entry_point<PFN_cuCtxGetId_v12000>("cuCtxGetId", 12000);
    REQUIRE_CUDA(cudaFree(nullptr));
    CUcontext context = nullptr;
    REQUIRE(current(&context) == CUDA_SUCCESS);
    unsigned long long id = 0;
    REQUIRE(id_of(context, &id) == CUDA_SUCCESS);
    REQUIRE(id != 0);
    unsigned long long again = 0;
    CUresult code = CUDA_ERROR_UNKNOWN;
    std::thread([&] { code = id_of(context, &again); }).join();
    REQUIRE(code == CUDA_SUCCESS);
    REQUIRE(again == id);
    REQUIRE(id_of(context, nullptr) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("the driver launches an executable graph", "[driver][exec]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 5);
    add_kernel(graph, set);
    const Exec exec(graph);
    const auto launch = entry_point<PFN_cuGraphLaunch_v10000>("cuGraphLaunch", 12000);
    REQUIRE(launch(exec, stream) == CUDA_SUCCESS);
    stream.synchronize();
    REQUIRE(data.read() == std::vector{5});

    REQUIRE(launch(nullptr, stream) == CUDA_ERROR_INVALID_VALUE);
    CUresult code = CUDA_ERROR_UNKNOWN;
    std::thread([&] { code = launch(exec, nullptr); }).join();
    REQUIRE(code == CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("the driver instantiates, and says why it does not", "[driver][instantiate]") {
    Graph graph;
    const cudaGraphNode_t one = add_empty(graph);
    const cudaGraphNode_t two = add_empty(graph, {one});
    const auto instantiate =
        entry_point<PFN_cuGraphInstantiateWithParams_v12000>("cuGraphInstantiateWithParams", 12000);
    CUgraphExec exec = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    params.hErrNode_out = untouched<CUgraphNode>();
    params.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    REQUIRE(instantiate(&exec, graph, &params) == CUDA_SUCCESS);
    REQUIRE(params.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
    REQUIRE(params.hErrNode_out == nullptr);
    REQUIRE_CUDA(cudaGraphExecDestroy(exec));

    add_edge(graph, two, one);
    exec = untouched<CUgraphExec>();
    REQUIRE(instantiate(&exec, graph, &params) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(params.result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    const bool in_the_cycle = params.hErrNode_out == one || params.hErrNode_out == two;
    REQUIRE(in_the_cycle);
    REQUIRE(exec == untouched<CUgraphExec>());
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}
