// The driver's streams, events, captures and graphs: the runtime's, by other names.
#include "driver.hpp"

#include <cstddef>

TEST_CASE("the driver's streams and events order work as the runtime's do", "[driver][streams]") {
    const auto create = entry_point<PFN_cuStreamCreateWithPriority_v5050>("cuStreamCreateWithPriority", 12000);
    const auto destroy = entry_point<PFN_cuStreamDestroy_v4000>("cuStreamDestroy", 12000);
    const auto create_event = entry_point<PFN_cuEventCreate_v2000>("cuEventCreate", 12000);
    const auto record = entry_point<PFN_cuEventRecord_v2000>("cuEventRecord", 12000);
    const auto wait = entry_point<PFN_cuStreamWaitEvent_v3020>("cuStreamWaitEvent", 12000);
    const auto synchronize = entry_point<PFN_cuStreamSynchronize_v2000>("cuStreamSynchronize", 12000);
    const auto set = entry_point<PFN_cuMemsetD32Async_v3020>("cuMemsetD32Async", 12000);
    const auto copy = entry_point<PFN_cuMemcpyDtoDAsync_v3020>("cuMemcpyDtoDAsync", 12000);
    REQUIRE_CUDA(cudaFree(nullptr));
    CUstream first = nullptr;
    CUstream second = nullptr;
    CUevent event = nullptr;
    REQUIRE(create(&first, CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS);
    REQUIRE(create(&second, CU_STREAM_NON_BLOCKING, -1) == CUDA_SUCCESS);
    REQUIRE(create_event(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    DeviceInts data(2);
    const auto at = [&](std::size_t index) { return reinterpret_cast<CUdeviceptr>(data.data() + index); };
    REQUIRE(set(at(0), 7, 1, first) == CUDA_SUCCESS);
    REQUIRE(record(event, first) == CUDA_SUCCESS);
    REQUIRE(wait(second, event, CU_EVENT_WAIT_DEFAULT) == CUDA_SUCCESS);
    REQUIRE(copy(at(1), at(0), sizeof(int), second) == CUDA_SUCCESS);
    REQUIRE(synchronize(second) == CUDA_SUCCESS);
    REQUIRE(data.read() == std::vector{7, 7});
    REQUIRE(entry_point<PFN_cuEventQuery_v2000>("cuEventQuery", 12000)(event) == CUDA_SUCCESS);
    REQUIRE(entry_point<PFN_cuStreamQuery_v2000>("cuStreamQuery", 12000)(second) == CUDA_SUCCESS);
    float ms = 0;
    REQUIRE(entry_point<PFN_cuEventElapsedTime_v2000>("cuEventElapsedTime", 12000)(&ms, event, event) ==
            CUDA_ERROR_INVALID_HANDLE); // without times
    int priority = 99;
    REQUIRE(entry_point<PFN_cuStreamGetPriority_v5050>("cuStreamGetPriority", 12000)(second, &priority) ==
            CUDA_SUCCESS);
    REQUIRE(priority == -1);
    REQUIRE(create(&first, 99, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(create(nullptr, 0, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(entry_point<PFN_cuEventDestroy_v4000>("cuEventDestroy", 12000)(event) == CUDA_SUCCESS);
    REQUIRE(destroy(first) == CUDA_SUCCESS);
    REQUIRE(destroy(second) == CUDA_SUCCESS);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("the driver captures a stream into a graph", "[driver][capture]") {
    const auto begin = entry_point<PFN_cuStreamBeginCapture_v10010>("cuStreamBeginCapture", 12000);
    const auto end = entry_point<PFN_cuStreamEndCapture_v10000>("cuStreamEndCapture", 12000);
    const auto info = entry_point<PFN_cuStreamGetCaptureInfo_v11030>("cuStreamGetCaptureInfo", 12000);
    const auto set = entry_point<PFN_cuMemsetD32Async_v3020>("cuMemsetD32Async", 12000);
    const auto instantiate = entry_point<PFN_cuGraphInstantiateWithFlags_v11040>("cuGraphInstantiateWithFlags", 12000);
    const auto launch = entry_point<PFN_cuGraphLaunch_v10000>("cuGraphLaunch", 12000);
    Stream stream;
    DeviceInts data(1);
    REQUIRE(begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    REQUIRE(set(reinterpret_cast<CUdeviceptr>(data.data()), 9, 1, stream) == CUDA_SUCCESS);
    CUstreamCaptureStatus status{};
    cuuint64_t id = 0;
    CUgraph under_way = nullptr;
    const CUgraphNode* last = nullptr;
    std::size_t count = 0;
    REQUIRE(info(stream, &status, &id, &under_way, &last, &count) == CUDA_SUCCESS);
    REQUIRE(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    REQUIRE(count == 1);
    CUgraph graph = nullptr;
    REQUIRE(end(stream, &graph) == CUDA_SUCCESS);
    REQUIRE(graph == under_way);
    REQUIRE(end(stream, &under_way) == CUDA_ERROR_ILLEGAL_STATE);
    CUgraphExec exec = nullptr;
    REQUIRE(instantiate(&exec, graph, 0) == CUDA_SUCCESS);
    REQUIRE(launch(exec, stream) == CUDA_SUCCESS);
    stream.synchronize();
    REQUIRE(data.read() == std::vector{9});
    REQUIRE(entry_point<PFN_cuGraphExecDestroy_v10000>("cuGraphExecDestroy", 12000)(exec) == CUDA_SUCCESS);
    REQUIRE(entry_point<PFN_cuGraphDestroy_v10000>("cuGraphDestroy", 12000)(graph) == CUDA_SUCCESS);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("the driver's copies are nodes, and read as they were added", "[driver][graph]") {
    const auto add = entry_point<PFN_cuGraphAddMemcpyNode_v10000>("cuGraphAddMemcpyNode", 12000);
    const auto params_of = entry_point<PFN_cuGraphMemcpyNodeGetParams_v10000>("cuGraphMemcpyNodeGetParams", 12000);
    CUcontext context = nullptr;
    REQUIRE_CUDA(cudaFree(nullptr));
    REQUIRE(entry_point<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 12000)(&context) == CUDA_SUCCESS);
    Stream stream;
    Graph graph;
    DeviceInts data(2);
    const int value = 4;
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = &value;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = reinterpret_cast<CUdeviceptr>(data.data());
    copy.dstXInBytes = sizeof(int);
    copy.srcPitch = copy.dstPitch = 2 * sizeof(int);
    copy.srcHeight = copy.dstHeight = 1;
    copy.WidthInBytes = sizeof(int);
    copy.Height = copy.Depth = 1;
    CUgraphNode node = nullptr;
    REQUIRE(add(&node, graph, nullptr, 0, &copy, context) == CUDA_SUCCESS);
    CUDA_MEMCPY3D read{};
    REQUIRE(params_of(node, &read) == CUDA_SUCCESS);
    REQUIRE(read.WidthInBytes == sizeof(int));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{poison, 4});
    REQUIRE(add(&node, graph, nullptr, 0, nullptr, context) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("the driver finds its functions by name, version and default stream", "[driver]") {
    const auto look_up = entry_point<PFN_cuGetProcAddress_v12000>("cuGetProcAddress", 12000);
    void* found = nullptr;
    auto status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    REQUIRE(look_up("cuMemAlloc", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status) == CUDA_SUCCESS);
    REQUIRE(status == CU_GET_PROC_ADDRESS_SUCCESS);
    REQUIRE(found != nullptr);
    void* legacy = nullptr;
    void* per_thread = nullptr;
    REQUIRE(look_up("cuStreamQuery", &legacy, 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status) == CUDA_SUCCESS);
    REQUIRE(look_up("cuStreamQuery", &per_thread, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status) ==
            CUDA_SUCCESS);
    REQUIRE(legacy != per_thread);
    static_cast<void>(look_up("cuNoSuchFunction", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    REQUIRE(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    REQUIRE(found == nullptr);
    static_cast<void>(look_up("cuGraphAddNode", &found, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    REQUIRE(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    REQUIRE(found == nullptr);
}
