// Allocations and frees in a capture.
#include "capture.hpp"
#include "memory_nodes.hpp"

#include <vector>

namespace {

int* allocate(cudaStream_t stream, std::size_t count) {
    void* data = nullptr;
    REQUIRE_CUDA(cudaMallocAsync(&data, count * sizeof(int), stream));
    REQUIRE(data != nullptr);
    return static_cast<int*>(data);
}

cudaMemAllocNodeParams params_of(cudaGraphNode_t node) {
    cudaMemAllocNodeParams params{};
    REQUIRE_CUDA(cudaGraphMemAllocNodeGetParams(node, &params));
    return params;
}

} // namespace

TEST_CASE("captured allocations and frees become memory nodes", "[capture][memory_nodes]") {
    Stream stream;
    DeviceInts result(4);
    Capture capture(stream);
    int* const data = allocate(stream, 4);
    REQUIRE_CUDA(cudaMemsetAsync(data, 1, 16, stream));
    Call copy(copy_plus, data, result.data(), 4, 1);
    copy.block = dim3(4);
    copy.launch(stream);
    REQUIRE_CUDA(cudaFreeAsync(data, stream));
    const cudaGraph_t graph = capture.end();
    REQUIRE(types_of(graph) == std::vector{cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeMemset, cudaGraphNodeTypeKernel,
                                           cudaGraphNodeTypeMemFree});
    REQUIRE(places(graph) == Places{{0, 1}, {1, 2}, {2, 3}});
    const Nodes nodes = nodes_of(graph);
    const cudaMemAllocNodeParams params = params_of(nodes[0]);
    REQUIRE(params.dptr == data);
    REQUIRE(params.bytesize == 16);
    REQUIRE(params.poolProps.location.type == cudaMemLocationTypeDevice);
    REQUIRE(params.poolProps.location.id == 0);
    REQUIRE(params.accessDescCount == 0);
    void* freed = nullptr;
    REQUIRE_CUDA(cudaGraphMemFreeNodeGetParams(nodes[3], &freed));
    REQUIRE(freed == data);
    const Exec exec(graph);
    exec.run(stream);
    exec.run(stream);
    REQUIRE(result.read() == std::vector<int>(4, 0x01010102));
}

TEST_CASE("a captured allocation takes the memory that was freed before it", "[capture][memory_nodes]") {
    Stream stream;
    Capture capture(stream);
    int* const first = allocate(stream, 1 << 18);
    REQUIRE_CUDA(cudaFreeAsync(first, stream));
    int* const second = allocate(stream, 1 << 18);
    REQUIRE_CUDA(cudaFreeAsync(second, stream));
    REQUIRE(first == second);
    Exec(capture.end()).run(stream);
}

TEST_CASE("allocations from a pool are captured as others, and do not need the pool", "[capture][memory_nodes]") {
    Stream stream;
    cudaMemPool_t pool = nullptr;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    REQUIRE_CUDA(cudaMemPoolCreate(&pool, &properties));
    Capture capture(stream);
    void* data = nullptr;
    REQUIRE_CUDA(cudaMallocFromPoolAsync(&data, 1000, pool, stream));
    REQUIRE_CUDA(cudaFreeAsync(data, stream));
    const cudaGraph_t graph = capture.end();
    REQUIRE_CUDA(cudaMemPoolDestroy(pool));
    REQUIRE(types_of(graph) == std::vector{cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeMemFree});
    REQUIRE(params_of(nodes_of(graph)[0]).bytesize == 1000);
    Exec(graph).run(stream);
}

TEST_CASE("a captured allocation that the graph does not free is freed after the launch", "[capture][memory_nodes]") {
    Stream stream;
    Capture capture(stream);
    int* const data = allocate(stream, 4);
    REQUIRE_CUDA(cudaMemsetAsync(data, 1, 16, stream));
    const cudaGraph_t graph = capture.end();
    // Nothing is allocated yet.
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(data));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeAsync(data, stream));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(first_of(data) == 0x01010101);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(exec, stream));
    SECTION("by cudaFree") {
        REQUIRE_CUDA(cudaFree(data));
    }
    SECTION("by cudaFreeAsync") {
        REQUIRE_CUDA(cudaFreeAsync(data, stream));
    }
    exec.run(stream);
    REQUIRE_CUDA(cudaFreeAsync(data, stream));
    stream.synchronize();
}

TEST_CASE("one capture frees what another allocates", "[capture][memory_nodes]") {
    Stream stream;
    Stream other;
    Capture first(stream);
    int* const data = allocate(stream, 4);
    const Exec allocating(first.end());
    Capture second(other);
    REQUIRE_CUDA(cudaFreeAsync(data, other));
    const cudaGraph_t graph = second.end();
    REQUIRE(types_of(graph) == std::vector{cudaGraphNodeTypeMemFree});
    const Exec freeing(graph);
    allocating.run(stream);
    freeing.run(stream);
    allocating.run(stream);
    freeing.run(stream);
}

TEST_CASE("a capture frees no memory that was allocated outside of graphs", "[capture][memory_nodes]") {
    Stream stream;
    DeviceInts usual(4);
    int* const ordered = allocate(stream, 4);
    stream.synchronize();
    Capture capture(stream);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeAsync(ordered, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeAsync(usual.data(), stream));
    REQUIRE(captures(stream));
    REQUIRE(nodes_of(capture.end()).empty());
    REQUIRE_CUDA(cudaFreeAsync(ordered, stream));
    stream.synchronize();
}

TEST_CASE("a captured allocation is freed once", "[capture][memory_nodes]") {
    Stream stream;
    Capture capture(stream);
    int* const data = allocate(stream, 4);
    REQUIRE_CUDA(cudaFreeAsync(data, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeAsync(data, stream));
    REQUIRE(captures(stream));
    REQUIRE(nodes_of(capture.end()).size() == 2);
}

TEST_CASE("the memory of an invalidated capture is nobody's", "[capture][memory_nodes]") {
    Stream stream;
    Stream other;
    Capture capture(stream);
    int* const data = allocate(stream, 4);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(stream));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, cudaFreeAsync(data, stream));
    capture.fail(cudaErrorStreamCaptureInvalidated);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeAsync(data, other));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(data));
}

TEST_CASE("a captured graph with memory nodes follows their rules", "[capture][memory_nodes]") {
    Stream stream;
    Capture capture(stream);
    int* const data = allocate(stream, 4);
    REQUIRE_CUDA(cudaFreeAsync(data, stream));
    const cudaGraph_t graph = capture.end();
    const Exec exec(graph);
    cudaGraphExec_t second = nullptr;
    cudaGraph_t clone = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphInstantiateWithFlags(&second, graph, 0));
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphClone(&clone, graph));
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphDestroyNode(nodes_of(graph)[1]));
    exec.run(stream);
}

TEST_CASE("a whole update moves a copy between memory that both graphs free", "[capture][memory_nodes][exec_update]") {
    Stream stream;
    DeviceInts out(1);
    const auto record = [&](Capture& capture, int value) {
        int* const data = allocate(stream, 1);
        Call(store, data, 0, value).launch(stream);
        REQUIRE_CUDA(cudaMemcpyAsync(out.data(), data, sizeof(int), cudaMemcpyDeviceToDevice, stream));
        REQUIRE_CUDA(cudaFreeAsync(data, stream));
        return capture.end();
    };
    Capture first(stream);
    const Exec exec(record(first, 1));
    if (GENERATE(false, true)) {
        exec.run(stream);
        REQUIRE(out.read() == std::vector{1});
    }
    Capture second(stream);
    REQUIRE_CUDA(cudaGraphExecUpdate(exec, record(second, 2), nullptr));
    exec.run(stream);
    exec.run(stream);
    REQUIRE(out.read() == std::vector{2});
}

TEST_CASE("a whole update does not move a memset between memory that both graphs free",
          "[capture][memory_nodes][exec_update]") {
    Stream stream;
    const auto record = [&](Capture& capture, int value) {
        int* const data = allocate(stream, 1);
        REQUIRE_CUDA(cudaMemsetAsync(data, value, sizeof(int), stream));
        REQUIRE_CUDA(cudaFreeAsync(data, stream));
        return capture.end();
    };
    Capture first(stream);
    const Exec exec(record(first, 1));
    Capture second(stream);
    cudaGraphExecUpdateResultInfo info{};
    REQUIRE_CUDA_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, record(second, 2), &info));
    REQUIRE(info.result == cudaGraphExecUpdateError);
    exec.run(stream);
}
