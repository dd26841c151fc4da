// The driver's calls that need a context: which Runtime calls bind one to a thread, launches, instantiation.
#include "driver.hpp"

#include <cstddef>
#include <string>
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

TEST_CASE("a stream's context, made current for a while, tells the stream's device", "[driver]") {
    const auto current = entry_point<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 12000);
    const auto context_of = entry_point<PFN_cuStreamGetCtx_v9020>("cuStreamGetCtx", 12040);
    const auto push = entry_point<PFN_cuCtxPushCurrent_v4000>("cuCtxPushCurrent", 12040);
    const auto pop = entry_point<PFN_cuCtxPopCurrent_v4000>("cuCtxPopCurrent", 12040);
    const auto device_of = entry_point<PFN_cuCtxGetDevice_v2000>("cuCtxGetDevice", 12040);
    Stream stream;
    CUcontext before = nullptr;
    REQUIRE(current(&before) == CUDA_SUCCESS);
    for (const cudaStream_t asked : {static_cast<cudaStream_t>(stream), cudaStream_t(), cudaStreamPerThread}) {
        CUcontext context = nullptr;
        REQUIRE(context_of(asked, &context) == CUDA_SUCCESS);
        REQUIRE(push(context) == CUDA_SUCCESS);
        CUdevice device = -1;
        REQUIRE(device_of(&device) == CUDA_SUCCESS);
        REQUIRE(device == 0);
        CUcontext popped = nullptr;
        REQUIRE(pop(&popped) == CUDA_SUCCESS);
        REQUIRE(popped == context);
        CUcontext after = nullptr;
        REQUIRE(current(&after) == CUDA_SUCCESS);
        REQUIRE(after == before);
    }
    CUcontext context = nullptr;
    REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    REQUIRE(context_of(stream, &context) == CUDA_SUCCESS); // which leaves the capture whole
    REQUIRE(context == before);
    cudaGraph_t captured = nullptr;
    REQUIRE_CUDA(cudaStreamEndCapture(stream, &captured));
    REQUIRE_CUDA(cudaGraphDestroy(captured));
}

#if CUDA_VERSION >= 12090
TEST_CASE("the driver's log is the runtime's, and reading it leaves the last error alone", "[driver][log]") {
    const auto position = entry_point<PFN_cuLogsCurrent_v12090>("cuLogsCurrent", 12090);
    const auto dump = entry_point<PFN_cuLogsDumpToMemory_v12090>("cuLogsDumpToMemory", 12090);
    CUlogIterator next = 0;
    REQUIRE(position(&next, 0) == CUDA_SUCCESS);
    Graph graph;
    Call call(nothing);
    call.block = dim3(2048);
    const cudaKernelNodeParams params = call.params();
    cudaGraphNode_t node = nullptr;
    REQUIRE(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params) == cudaErrorInvalidValue);
    std::string text(25600 + 256, '\0');
    std::size_t size = 25600;
    REQUIRE(dump(&next, text.data(), &size, 0) == CUDA_SUCCESS);
    text.resize(size);
    REQUIRE_THAT(text, ContainsSubstring("Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuGraphAddKernelNode_v2"));
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);

    text.resize(25600 + 256);
    size = 25600;
    REQUIRE(dump(&next, text.data(), &size, 0) == CUDA_SUCCESS); // of nothing new
    REQUIRE(size == 0);
    REQUIRE(dump(&next, nullptr, nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}
#endif

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

TEST_CASE("the driver updates a whole executable graph, and says what differs, also without a context",
          "[driver][exec_update]") {
    const Stream stream;
    DeviceInts data(1);
    const auto graph_of = [&](Graph& graph, int value, bool with_more) {
        Call set(store, data.data(), 0, value);
        add_kernel(graph, set);
        if (with_more) add_empty(graph);
    };
    Graph five, six, larger;
    graph_of(five, 5, false);
    graph_of(six, 6, false);
    graph_of(larger, 7, true);
    const Exec exec(five);
    const auto update = entry_point<PFN_cuGraphExecUpdate_v12000>("cuGraphExecUpdate", 12000);
    CUgraphExecUpdateResultInfo info{};
    const auto require = [&](CUresult expected, CUgraphExecUpdateResult result, CUgraph graph) {
        for (const bool has_context : {true, false}) {
            info = {CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, untouched<CUgraphNode>(), untouched<CUgraphNode>()};
            CUresult code = CUDA_ERROR_UNKNOWN;
            if (has_context)
                code = update(exec, graph, &info);
            else
                std::thread([&] { code = update(exec, graph, &info); }).join();
            REQUIRE(code == expected);
            REQUIRE(info.result == result);
            REQUIRE(cudaPeekAtLastError() == cudaSuccess);
        }
    };
    require(CUDA_SUCCESS, CU_GRAPH_EXEC_UPDATE_SUCCESS, six);
    REQUIRE(info.errorNode == nullptr);
    REQUIRE(info.errorFromNode == nullptr);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{6});
    require(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, larger);
    require(CUDA_ERROR_INVALID_VALUE, CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr);
    REQUIRE(info.errorNode == nullptr);
    REQUIRE(info.errorFromNode == nullptr);
    REQUIRE(update(nullptr, six, &info) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(update(exec, five, nullptr) == CUDA_SUCCESS);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{5});
}
