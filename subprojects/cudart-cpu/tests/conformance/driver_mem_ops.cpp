// Memory operations, which only the driver has: waits for values and writes of values, in streams and in graphs.
#include "driver.hpp"

#include "capture.hpp"
#include "handles.hpp"
#include "memory.hpp"
#include "memory_nodes.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace {

constexpr unsigned of_ops = 11070; // the CUDA that brought the present forms

struct MemOpCalls {
    MemOpCalls() {
        REQUIRE_CUDA(cudaFree(nullptr)); // the driver's functions need a context
        REQUIRE(entry_point<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000)(&context) == CUDA_SUCCESS);
    }

    PFN_cuStreamWaitValue32_v11070 wait = entry_point<PFN_cuStreamWaitValue32_v11070>("cuStreamWaitValue32", of_ops);
    PFN_cuStreamWriteValue32_v11070 write =
        entry_point<PFN_cuStreamWriteValue32_v11070>("cuStreamWriteValue32", of_ops);
    PFN_cuStreamBatchMemOp_v11070 batch = entry_point<PFN_cuStreamBatchMemOp_v11070>("cuStreamBatchMemOp", of_ops);
    PFN_cuGraphAddNode_v12030 add = entry_point<PFN_cuGraphAddNode_v12030>("cuGraphAddNode", 12030);
    PFN_cuGraphNodeGetType_v10000 type = entry_point<PFN_cuGraphNodeGetType_v10000>("cuGraphNodeGetType", 10000);
    PFN_cuGraphBatchMemOpNodeGetParams_v11070 get =
        entry_point<PFN_cuGraphBatchMemOpNodeGetParams_v11070>("cuGraphBatchMemOpNodeGetParams", of_ops);
    PFN_cuGraphExecNodeSetParams_v12020 exec_set =
        entry_point<PFN_cuGraphExecNodeSetParams_v12020>("cuGraphExecNodeSetParams", 12020);
    CUcontext context = nullptr;
};

CUdeviceptr address_of(const int* place) {
    return reinterpret_cast<CUdeviceptr>(place);
}
CUstreamBatchMemOpParams write_of(const int* place, std::uint32_t value) {
    CUstreamBatchMemOpParams params{};
    params.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    params.writeValue.address = address_of(place);
    params.writeValue.value = value;
    return params;
}
CUstreamBatchMemOpParams wait_of(const int* place, std::uint32_t value, unsigned flags) {
    CUstreamBatchMemOpParams params{};
    params.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    params.waitValue.address = address_of(place);
    params.waitValue.value = value;
    params.waitValue.flags = flags;
    return params;
}
CUgraphNodeParams node_of(CUcontext context, std::vector<CUstreamBatchMemOpParams>& operations) {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    params.memOp.ctx = context;
    params.memOp.count = static_cast<unsigned>(operations.size());
    params.memOp.paramArray = operations.data();
    return params;
}

} // namespace

TEST_CASE("a stream writes a value, and waits for one that the host writes", "[memory_operations]") {
    const MemOpCalls driver;
    const Stream stream;
    const PinnedInts cells(2);
    cells[0] = cells[1] = 0;
    REQUIRE(driver.wait(stream, address_of(cells.data()), 5, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
    REQUIRE(driver.write(stream, address_of(cells.data() + 1), 7, 0) == CUDA_SUCCESS);
    REQUIRE(cudaStreamQuery(stream) == cudaErrorNotReady);
    static_cast<void>(cudaGetLastError());
    REQUIRE(std::atomic_ref(cells[1]).load() == 0);
    std::atomic_ref(cells[0]).store(5);
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    REQUIRE(cells[1] == 7);
}

TEST_CASE("a wait for a value compares in one of four ways", "[memory_operations]") {
    const MemOpCalls driver;
    const Stream stream;
    const PinnedInts cells(1);
    struct Met {
        std::uint32_t found, value;
        unsigned flags;
    };
    for (const Met& met : {Met{6, 5, CU_STREAM_WAIT_VALUE_GEQ}, Met{0, 0xFFFFFFF0U, CU_STREAM_WAIT_VALUE_GEQ},
                           Met{5, 5, CU_STREAM_WAIT_VALUE_EQ}, Met{6, 2, CU_STREAM_WAIT_VALUE_AND},
                           Met{6, 2, CU_STREAM_WAIT_VALUE_NOR}}) {
        cells[0] = static_cast<int>(met.found);
        REQUIRE(driver.wait(stream, address_of(cells.data()), met.value, met.flags) == CUDA_SUCCESS);
        REQUIRE_CUDA(cudaStreamSynchronize(stream));
    }
}

TEST_CASE("wrong memory operations are refused", "[memory_operations]") {
    const MemOpCalls driver;
    const Stream stream;
    const DeviceInts cells(2);
    auto one = write_of(cells.data(), 1);
    REQUIRE(driver.batch(stream, 1, &one, 1) == CUDA_ERROR_INVALID_VALUE);
    std::vector<CUstreamBatchMemOpParams> many(256, one);
    REQUIRE(driver.batch(stream, 256, many.data(), 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(driver.wait(stream, address_of(cells.data()), 1, 4) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(driver.write(stream, address_of(cells.data()) + 2, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(driver.write(stream, 0, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cells.read() == std::vector{poison, poison});
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a batch of no memory operations is accepted", "[memory_operations]") {
    const MemOpCalls driver;
    const Stream stream;
    REQUIRE(driver.batch(stream, 0, nullptr, 0) == CUDA_SUCCESS);
    std::vector<CUstreamBatchMemOpParams> none;
    CUgraphNodeParams params = node_of(driver.context, none);
    const Graph graph;
    CUgraphNode node = nullptr;
    REQUIRE(driver.add(&node, graph, nullptr, nullptr, 0, &params) == CUDA_SUCCESS);
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
}

TEST_CASE("streams refuse memory operations in managed memory and in memory of pools", "[memory_operations]") {
    const MemOpCalls driver;
    const Stream stream;
    int* managed = nullptr;
    REQUIRE_CUDA(cudaMallocManaged(&managed, sizeof(int)));
    REQUIRE(driver.write(stream, address_of(managed), 1, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE_CUDA(cudaFree(managed));
    void* pooled = nullptr;
    REQUIRE_CUDA(cudaMallocAsync(&pooled, sizeof(int), stream));
    REQUIRE(driver.write(stream, address_of(static_cast<int*>(pooled)), 1, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE_CUDA(cudaFreeAsync(pooled, stream));
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
}

TEST_CASE("a node takes memory operations at any address, and its launches refuse what they cannot operate on",
          "[memory_operations]") {
    const MemOpCalls driver;
    const Stream stream;
    int* managed = nullptr;
    REQUIRE_CUDA(cudaMallocManaged(&managed, sizeof(int)));
    void* pooled = nullptr;
    REQUIRE_CUDA(cudaMallocAsync(&pooled, sizeof(int), stream));
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    for (const int* place :
         {static_cast<const int*>(nullptr), static_cast<const int*>(managed), static_cast<const int*>(pooled)}) {
        std::vector<CUstreamBatchMemOpParams> operations{write_of(place, 1)};
        CUgraphNodeParams params = node_of(driver.context, operations);
        const Graph graph;
        CUgraphNode node = nullptr;
        REQUIRE(driver.add(&node, graph, nullptr, nullptr, 0, &params) == CUDA_SUCCESS);
        const Exec exec(graph);
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(exec, stream));
        REQUIRE_CUDA(cudaStreamSynchronize(stream));
    }
    REQUIRE_CUDA(cudaFreeAsync(pooled, stream));
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    REQUIRE_CUDA(cudaFree(managed));
}

TEST_CASE("memory of a graph takes no memory operations, neither of a node nor of a stream", "[memory_operations]") {
    const MemOpCalls driver;
    const Stream stream;
    const Graph allocating;
    const Allocation memory = add_alloc(allocating, 1);
    const Exec exec(allocating);
    exec.run(stream);
    REQUIRE(driver.write(stream, address_of(memory.data), 1, 0) == CUDA_ERROR_INVALID_VALUE);
    std::vector<CUstreamBatchMemOpParams> operations{write_of(memory.data, 1)};
    CUgraphNodeParams params = node_of(driver.context, operations);
    const Graph graph;
    CUgraphNode node = nullptr;
    REQUIRE(driver.add(&node, graph, nullptr, nullptr, 0, &params) == CUDA_SUCCESS);
    const Exec refused(graph);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(refused, stream));
    REQUIRE_CUDA(cudaFreeAsync(memory.data, stream));
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
}

TEST_CASE("a refused launch keeps its graph memory in use until one succeeds", "[memory_operations][graph_memory]") {
    const auto used = [] {
        std::uint64_t value = 0;
        REQUIRE_CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &value));
        return value;
    };
    const auto used_after_trim = [&] {
        REQUIRE_CUDA(cudaDeviceGraphMemTrim(0));
        return used();
    };
    const MemOpCalls driver;
    const Stream stream;
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(used_after_trim() == 0);
    DeviceInts cells(1);
    void* pooled = nullptr;
    REQUIRE_CUDA(cudaMallocAsync(&pooled, sizeof(int), stream));
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    const Graph graph;
    const Allocation memory = add_alloc(graph, 1);
    add_free(graph, memory.data, {memory.node});
    std::vector<CUstreamBatchMemOpParams> operations{write_of(static_cast<int*>(pooled), 1)};
    CUgraphNodeParams params = node_of(driver.context, operations);
    CUgraphNode node = nullptr;
    REQUIRE(driver.add(&node, graph, nullptr, nullptr, 0, &params) == CUDA_SUCCESS);
    const Exec exec(graph);
    for (int i = 0; i < 2; ++i) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(exec, stream));
        REQUIRE_CUDA(cudaStreamSynchronize(stream));
        const std::uint64_t kept = used();
        REQUIRE(kept >= sizeof(int));
        REQUIRE(used_after_trim() == kept);
    }
    operations = {write_of(cells.data(), 1)};
    params = node_of(driver.context, operations);
    REQUIRE(driver.exec_set(exec, node, &params) == CUDA_SUCCESS);
    exec.run(stream);
    REQUIRE(cells.read() == std::vector{1});
    REQUIRE(used_after_trim() == 0);
    REQUIRE_CUDA(cudaFreeAsync(pooled, stream));
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
}

TEST_CASE("a captured memory operation is a node that the driver describes", "[memory_operations][capture]") {
    const MemOpCalls driver;
    const Stream stream;
    const DeviceInts cells(2);
    Capture capture(stream);
    REQUIRE(driver.write(stream, address_of(cells.data() + 1), 7, 0) == CUDA_SUCCESS);
    const cudaGraph_t graph = capture.end();
    const Nodes nodes = nodes_of(graph);
    REQUIRE(nodes.size() == 1);
    CUgraphNodeType type{};
    REQUIRE(driver.type(nodes[0], &type) == CUDA_SUCCESS);
    REQUIRE(type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    CUDA_BATCH_MEM_OP_NODE_PARAMS found{};
    REQUIRE(driver.get(nodes[0], &found) == CUDA_SUCCESS);
    REQUIRE(found.ctx == driver.context);
    REQUIRE(found.count == 1);
    REQUIRE(found.flags == 0);
    REQUIRE(found.paramArray[0].operation == CU_STREAM_MEM_OP_WRITE_VALUE_32);
    REQUIRE(found.paramArray[0].writeValue.address == address_of(cells.data() + 1));
    REQUIRE(found.paramArray[0].writeValue.value == 7);
}

TEST_CASE("a node of memory operations runs them in order, and takes new values", "[memory_operations]") {
    const MemOpCalls driver;
    const Stream stream;
    DeviceInts cells(3);
    cells.write({0, 0, 0});
    std::vector<CUstreamBatchMemOpParams> operations{
        write_of(cells.data(), 4), wait_of(cells.data(), 4, CU_STREAM_WAIT_VALUE_EQ), write_of(cells.data() + 1, 5)};
    const Graph graph;
    CUgraphNodeParams params = node_of(driver.context, operations);
    CUgraphNode node = nullptr;
    REQUIRE(driver.add(&node, graph, nullptr, nullptr, 0, &params) == CUDA_SUCCESS);
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    REQUIRE(cells.read() == std::vector{4, 5, 0});

    operations = {write_of(cells.data(), 8), wait_of(cells.data(), 3, CU_STREAM_WAIT_VALUE_GEQ),
                  write_of(cells.data() + 2, 9)};
    params = node_of(driver.context, operations);
    REQUIRE(driver.exec_set(exec, node, &params) == CUDA_SUCCESS);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    REQUIRE(cells.read() == std::vector{8, 5, 9});
}

TEST_CASE("an exec's memory operations keep number and type", "[memory_operations]") {
    const MemOpCalls driver;
    const DeviceInts cells(2);
    std::vector<CUstreamBatchMemOpParams> operations{write_of(cells.data(), 4)};
    const Graph graph;
    CUgraphNodeParams params = node_of(driver.context, operations);
    CUgraphNode node = nullptr;
    REQUIRE(driver.add(&node, graph, nullptr, nullptr, 0, &params) == CUDA_SUCCESS);
    const Exec exec(graph);
    operations.push_back(write_of(cells.data() + 1, 4));
    params = node_of(driver.context, operations);
    REQUIRE(driver.exec_set(exec, node, &params) != CUDA_SUCCESS);
    operations = {wait_of(cells.data(), 4, CU_STREAM_WAIT_VALUE_EQ)};
    params = node_of(driver.context, operations);
    REQUIRE(driver.exec_set(exec, node, &params) != CUDA_SUCCESS);
}
