// Streams, events and captures of several devices: with one device, each test says that it was skipped.
#include "capture.hpp"
#include "driver.hpp"

#include <memory>
#include <vector>

namespace {

bool skipped_with_one_device() {
    int count = 0;
    REQUIRE_CUDA(cudaGetDeviceCount(&count));
    if (count >= 2) return false;
    WARN("skipped: it needs two devices, and there is one");
    return true;
}

/// Makes device 1 current for a while.
struct OnSecond {
    OnSecond() { REQUIRE_CUDA(cudaSetDevice(1)); }
    ~OnSecond() { cudaSetDevice(0); }
    OnSecond(const OnSecond&) = delete;
    OnSecond& operator=(const OnSecond&) = delete;
};

template <class T, class... A>
std::unique_ptr<T> on_second(A... arguments) {
    const OnSecond here;
    return std::make_unique<T>(arguments...);
}

} // namespace

TEST_CASE("an event is recorded in streams of its own device only", "[devices]") {
    if (skipped_with_one_device()) return;
    const Event near;
    const auto far = on_second<Event>();
    const auto stream = on_second<Stream>();
    Stream home;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(near, *stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(*far, home));
    REQUIRE_CUDA(cudaEventRecord(*far, *stream));
    REQUIRE_CUDA(cudaStreamWaitEvent(home, *far, 0));
    REQUIRE_CUDA(cudaStreamSynchronize(home));
}

TEST_CASE("a capture refuses the record of another device's event, and goes on", "[devices][capture]") {
    if (skipped_with_one_device()) return;
    const Event near;
    const auto far = on_second<Event>();
    const auto stream = on_second<Stream>();
    Capture capture(*stream);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(near, *stream));
    REQUIRE(captures(*stream));
    REQUIRE_CUDA(cudaEventRecordWithFlags(near, *stream, cudaEventRecordExternal));
    REQUIRE_CUDA(cudaEventRecord(*far, *stream));
    REQUIRE(nodes_of(capture.end()).size() == 1);
}

TEST_CASE("events of each stream's device fork a capture to another device and join it", "[devices][capture]") {
    if (skipped_with_one_device()) return;
    const Event near;
    const auto far = on_second<Event>();
    const auto fork = on_second<Stream>();
    const auto data = on_second<DeviceInts>(1);
    Stream origin;
    Call call(nothing);
    Call set(store, data->data(), 0, 5);
    Capture capture(origin);
    call.launch(origin);
    REQUIRE_CUDA(cudaEventRecord(near, origin));
    REQUIRE_CUDA(cudaStreamWaitEvent(*fork, near, 0));
    REQUIRE(captures(*fork));
    {
        const OnSecond here;
        set.launch(*fork);
    }
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(near, *fork));
    REQUIRE(captures(origin));
    REQUIRE_CUDA(cudaEventRecord(*far, *fork));
    REQUIRE_CUDA(cudaStreamWaitEvent(origin, *far, 0));
    call.launch(origin);
    const cudaGraph_t graph = capture.end();
    REQUIRE(places(graph) == Places{{0, 1}, {0, 2}, {1, 2}});
    Exec(graph).run(origin);
    const OnSecond here;
    REQUIRE(data->read() == std::vector{5});
}

TEST_CASE("a kernel is launched in a stream of another device", "[devices]") {
    if (skipped_with_one_device()) return;
    const auto stream = on_second<Stream>();
    const auto data = on_second<DeviceInts>(1);
    Call set(store, data->data(), 0, 5);
    set.launch(*stream);
    REQUIRE_CUDA(cudaStreamSynchronize(*stream));
    const OnSecond here;
    REQUIRE(data->read() == std::vector{5});
}

TEST_CASE("a kernel has a function for each device, and a node the device of its function", "[devices][driver]") {
    if (skipped_with_one_device()) return;
    const auto current = entry_point<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000);
    const auto add = entry_point<PFN_cuGraphAddKernelNode_v12000>("cuGraphAddKernelNode", 12000);
    const auto get = entry_point<PFN_cuGraphKernelNodeGetParams_v12000>("cuGraphKernelNodeGetParams", 12000);
    const auto set = entry_point<PFN_cuGraphKernelNodeSetParams_v12000>("cuGraphKernelNodeSetParams", 12000);
    const auto set_in_exec =
        entry_point<PFN_cuGraphExecKernelNodeSetParams_v12000>("cuGraphExecKernelNodeSetParams", 12000);
    const void* const symbol = reinterpret_cast<const void*>(store);
    const auto data = on_second<DeviceInts>(1);
    CUfunction const here = function_of(symbol);
    CUfunction there = nullptr;
    CUcontext far = nullptr;
    {
        const OnSecond second;
        there = function_of(symbol);
        REQUIRE(current(&far) == CUDA_SUCCESS);
    }
    REQUIRE(here != there);

    int* target = data->data();
    int index = 0;
    int value = 5;
    void* arguments[] = {&target, &index, &value};
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = there;
    params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    const Graph graph;
    CUgraphNode node = nullptr;
    REQUIRE(add(&node, graph, nullptr, 0, &params) == CUDA_SUCCESS);
    CUDA_KERNEL_NODE_PARAMS found{};
    REQUIRE(get(node, &found) == CUDA_SUCCESS);
    REQUIRE(found.func == there);
    REQUIRE(found.ctx == far);
    value = 6;
    REQUIRE(set(node, &params) == CUDA_SUCCESS);
    REQUIRE(get(node, &found) == CUDA_SUCCESS);
    REQUIRE(found.ctx == far);
    Exec exec(graph);
    value = 7;
    REQUIRE(set_in_exec(exec, node, &params) == CUDA_SUCCESS);
    params.func = here;
    REQUIRE(set_in_exec(exec, node, &params) != CUDA_SUCCESS);
    params.func = nullptr;
    cudaKernel_t kernel = nullptr;
    REQUIRE_CUDA(cudaGetKernel(&kernel, symbol));
    params.kern = reinterpret_cast<CUkernel>(kernel);
    REQUIRE(set_in_exec(exec, node, &params) != CUDA_SUCCESS); // of the current context
    params.ctx = far;
    REQUIRE(set_in_exec(exec, node, &params) == CUDA_SUCCESS);
    exec.run(Stream());
    const OnSecond second;
    REQUIRE(data->read() == std::vector{7});
}

TEST_CASE("the driver launches a function in a stream of its device, whichever device is current",
          "[devices][driver]") {
    if (skipped_with_one_device()) return;
    const auto launch = entry_point<PFN_cuLaunchKernel_v4000>("cuLaunchKernel", 4000);
    const void* const symbol = reinterpret_cast<const void*>(nothing);
    CUfunction const here = function_of(symbol);
    const auto stream = on_second<Stream>();
    CUfunction there = nullptr;
    {
        const OnSecond second;
        there = function_of(symbol);
    }
    REQUIRE(launch(here, 1, 1, 1, 1, 1, 1, 0, *stream, nullptr, nullptr) == CUDA_ERROR_INVALID_HANDLE);
    Capture capture(*stream);
    REQUIRE(launch(there, 1, 1, 1, 1, 1, 1, 0, *stream, nullptr, nullptr) == CUDA_SUCCESS);
    REQUIRE(nodes_of(capture.end()).size() == 1);
}

TEST_CASE("the device of a captured stream is not told, and asking breaks the capture", "[devices][capture]") {
#if CUDART_VERSION >= 12080
    Stream stream;
    Stream other;
    Capture capture(stream);
    int device = 7;
    REQUIRE_CUDA(cudaStreamGetDevice(other, &device));
    REQUIRE(device == 0);
    REQUIRE(captures(stream));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamGetDevice(stream, &device));
    REQUIRE(invalidated(stream));
#else
    WARN("skipped: it needs CUDA 12.8");
#endif
}
