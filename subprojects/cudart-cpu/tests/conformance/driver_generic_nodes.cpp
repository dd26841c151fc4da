// Nodes of any kind added, read and updated through the driver's calls for all of them.
#include "driver.hpp"

#include "handles.hpp"

#include <cstring>
#include <vector>

namespace {

using Get = CUresult(CUDAAPI*)(CUgraphNode, CUgraphNodeParams*);

void CUDART_CB count_one(void* data) {
    ++*static_cast<int*>(data);
}

struct Calls {
    Calls()
        : add(entry_point<PFN_cuGraphAddNode_v12030>("cuGraphAddNode", 12030)),
          set(entry_point<PFN_cuGraphNodeSetParams_v12020>("cuGraphNodeSetParams", 12020)),
          exec_set(entry_point<PFN_cuGraphExecNodeSetParams_v12020>("cuGraphExecNodeSetParams", 12020)) {
        REQUIRE_CUDA(cudaFree(nullptr)); // the driver's functions need a context
        REQUIRE(entry_point<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000)(&context) == CUDA_SUCCESS);
        int version = 0;
        REQUIRE_CUDA(cudaDriverGetVersion(&version));
        if (version >= 13020) get = entry_point<Get>("cuGraphNodeGetParams", 13020);
    }

    CUgraphNode added(cudaGraph_t graph, CUgraphNodeParams& params, const Nodes& after = {}) const {
        CUgraphNode node = nullptr;
        REQUIRE(add(&node, graph, after.data(), nullptr, after.size(), &params) == CUDA_SUCCESS);
        return node;
    }
    /// The node's parameters; nothing to check where the driver cannot tell them.
    template <class Check>
    void check_read(CUgraphNode node, CUgraphNodeType type, const Check& check) const {
        if (get == nullptr) return;
        CUgraphNodeParams params;
        std::memset(static_cast<void*>(&params), 0xA5, sizeof params);
        REQUIRE(get(node, &params) == CUDA_SUCCESS);
        REQUIRE(params.type == type);
        check(params);
    }

    PFN_cuGraphAddNode_v12030 add;
    PFN_cuGraphNodeSetParams_v12020 set;
    PFN_cuGraphExecNodeSetParams_v12020 exec_set;
    Get get = nullptr;
    CUcontext context = nullptr;
};

CUgraphNodeParams params_of(CUgraphNodeType type) {
    CUgraphNodeParams params{};
    params.type = type;
    return params;
}

template <class... P>
CUgraphNodeParams kernel_params(Call<P...>& call) {
    CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_KERNEL);
    params.kernel.func = function_of(call.function());
    params.kernel.gridDimX = call.grid.x;
    params.kernel.gridDimY = call.grid.y;
    params.kernel.gridDimZ = call.grid.z;
    params.kernel.blockDimX = call.block.x;
    params.kernel.blockDimY = call.block.y;
    params.kernel.blockDimZ = call.block.z;
    params.kernel.kernelParams = call.arguments();
    return params;
}

CUgraphNodeParams fill_params(const Calls& calls, const DeviceInts& data, int value) {
    CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_MEMSET);
    params.memset.dst = reinterpret_cast<CUdeviceptr>(data.data());
    params.memset.value = static_cast<unsigned>(value);
    params.memset.elementSize = sizeof(int);
    params.memset.width = 1;
    params.memset.height = 1;
    params.memset.ctx = calls.context;
    return params;
}

} // namespace

TEST_CASE("a kernel node is added and updated through the driver's calls for any node", "[driver][generic]") {
    const Calls calls;
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    CUgraphNodeParams params = kernel_params(set);
    const CUgraphNode node = calls.added(graph, params);
    calls.check_read(node, CU_GRAPH_NODE_TYPE_KERNEL, [&](const CUgraphNodeParams& read) {
        REQUIRE(read.kernel.func == params.kernel.func);
        REQUIRE(read.kernel.gridDimX == set.grid.x);
        REQUIRE(*static_cast<int*>(read.kernel.kernelParams[2]) == 1);
        REQUIRE(read.kernel.ctx == calls.context);
    });
    const Exec first(graph);
    set.argument<2>() = 2;
    REQUIRE(calls.exec_set(first, node, &params) == CUDA_SUCCESS);
    set.argument<2>() = 3;
    REQUIRE(calls.set(node, &params) == CUDA_SUCCESS);
    const Exec second(graph);
    first.run(stream);
    REQUIRE(data.read() == std::vector{2});
    second.run(stream);
    REQUIRE(data.read() == std::vector{3});
}

TEST_CASE("memset, host and empty nodes are added through the driver's call, with edges", "[driver][generic]") {
    const Calls calls;
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    int count = 0;
    CUgraphNodeParams params = fill_params(calls, data, 5);
    const CUgraphNode fill = calls.added(graph, params);
    CUgraphNodeParams empty = params_of(CU_GRAPH_NODE_TYPE_EMPTY);
    const CUgraphNode join = calls.added(graph, empty, {fill});
    CUgraphNodeParams host = params_of(CU_GRAPH_NODE_TYPE_HOST);
    host.host.fn = count_one;
    host.host.userData = &count;
    const CUgraphNode call = calls.added(graph, host, {join});
    REQUIRE(nodes_of(graph) == Nodes{fill, join, call});
    REQUIRE(edges_of(graph) == Edges{{fill, join}, {join, call}});
    calls.check_read(fill, CU_GRAPH_NODE_TYPE_MEMSET, [&](const CUgraphNodeParams& read) {
        REQUIRE(read.memset.dst == params.memset.dst);
        REQUIRE(read.memset.value == 5);
        REQUIRE(read.memset.width == 1);
        REQUIRE(read.memset.ctx == calls.context);
    });
    calls.check_read(join, CU_GRAPH_NODE_TYPE_EMPTY, [](const CUgraphNodeParams&) {});
    calls.check_read(call, CU_GRAPH_NODE_TYPE_HOST, [&](const CUgraphNodeParams& read) {
        REQUIRE(read.host.fn == host.host.fn);
        REQUIRE(read.host.userData == &count);
    });
    const Exec exec(graph);
    params = fill_params(calls, data, 6);
    REQUIRE(calls.exec_set(exec, fill, &params) == CUDA_SUCCESS);
    int other = 0;
    host.host.userData = &other;
    REQUIRE(calls.exec_set(exec, call, &host) == CUDA_SUCCESS);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{6});
    REQUIRE(count == 0);
    REQUIRE(other == 1);
    params = fill_params(calls, data, 7);
    REQUIRE(calls.set(fill, &params) == CUDA_SUCCESS);
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{7});
    REQUIRE(count == 1);
}

TEST_CASE("event nodes are added, read and updated through the driver's calls", "[driver][generic]") {
    const Calls calls;
    Stream stream;
    Graph graph;
    Event first;
    Event second;
    CUgraphNodeParams record = params_of(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    record.eventRecord.event = first;
    CUgraphNodeParams wait = params_of(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    wait.eventWait.event = first;
    const CUgraphNode recorder = calls.added(graph, record);
    const CUgraphNode waiter = calls.added(graph, wait);
    record.eventRecord.event = second;
    wait.eventWait.event = second;
    REQUIRE(calls.set(recorder, &record) == CUDA_SUCCESS);
    REQUIRE(calls.set(waiter, &wait) == CUDA_SUCCESS);
    cudaEvent_t event = nullptr;
    REQUIRE_CUDA(cudaGraphEventRecordNodeGetEvent(recorder, &event));
    REQUIRE(event == second);
    REQUIRE_CUDA(cudaGraphEventWaitNodeGetEvent(waiter, &event));
    REQUIRE(event == second);
    calls.check_read(recorder, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                     [&](const CUgraphNodeParams& read) { REQUIRE(read.eventRecord.event == second); });
    calls.check_read(waiter, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                     [&](const CUgraphNodeParams& read) { REQUIRE(read.eventWait.event == second); });
    const Exec exec(graph);
    record.eventRecord.event = first;
    REQUIRE(calls.exec_set(exec, recorder, &record) == CUDA_SUCCESS);
    REQUIRE_CUDA(cudaEventRecord(second, stream));
    exec.run(stream);
}

TEST_CASE("child, alloc and free nodes are added and read through the driver's calls", "[driver][generic]") {
    const Calls calls;
    Graph graph;
    Graph inner;
    add_empty(inner);
    CUgraphNodeParams child = params_of(CU_GRAPH_NODE_TYPE_GRAPH);
    child.graph.graph = inner;
    const CUgraphNode outer = calls.added(graph, child);
    cudaGraph_t cloned = nullptr;
    REQUIRE_CUDA(cudaGraphChildGraphNodeGetGraph(outer, &cloned));
    REQUIRE(cloned != static_cast<cudaGraph_t>(inner));
    calls.check_read(outer, CU_GRAPH_NODE_TYPE_GRAPH,
                     [&](const CUgraphNodeParams& read) { REQUIRE(read.graph.graph == cloned); });

    CUgraphNodeParams alloc = params_of(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    alloc.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    alloc.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    alloc.alloc.bytesize = 256;
    const CUgraphNode allocation = calls.added(graph, alloc);
    REQUIRE(alloc.alloc.dptr != 0);
    CUgraphNodeParams free = params_of(CU_GRAPH_NODE_TYPE_MEM_FREE);
    free.free.dptr = alloc.alloc.dptr;
    const CUgraphNode freed = calls.added(graph, free, {allocation});
    void* address = nullptr;
    REQUIRE_CUDA(cudaGraphMemFreeNodeGetParams(freed, &address));
    REQUIRE(reinterpret_cast<CUdeviceptr>(address) == alloc.alloc.dptr);
    calls.check_read(allocation, CU_GRAPH_NODE_TYPE_MEM_ALLOC, [&](const CUgraphNodeParams& read) {
        REQUIRE(read.alloc.dptr == alloc.alloc.dptr);
        REQUIRE(read.alloc.bytesize == 256);
    });
    calls.check_read(freed, CU_GRAPH_NODE_TYPE_MEM_FREE,
                     [&](const CUgraphNodeParams& read) { REQUIRE(read.free.dptr == alloc.alloc.dptr); });
    REQUIRE(calls.set(allocation, &alloc) == CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("parameters of another kind, and none, are refused by the driver's calls, and leave the last error",
          "[driver][generic]") {
    const Calls calls;
    Graph graph;
    const cudaGraphNode_t empty = add_empty(graph);
    Call call(nothing);
    CUgraphNodeParams params = kernel_params(call);
    REQUIRE(calls.set(empty, &params) == CUDA_ERROR_INVALID_VALUE);
    params.reserved2 = 1;
    CUgraphNode node = nullptr;
    REQUIRE(calls.add(&node, graph, nullptr, nullptr, 0, &params) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(calls.add(&node, graph, nullptr, nullptr, 0, nullptr) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(nodes_of(graph) == Nodes{empty});
    REQUIRE(cudaGetLastError() == cudaSuccess);
}
