// Calls on a captured stream that fail: with which code, and whether the capture goes on.
#include "attributes.hpp"
#include "capture.hpp"

#include <cstddef>
#include <ostream>
#include <vector>

namespace {

struct On {
    cudaStream_t stream;
    int* data;
};

struct Failing {
    const char* name;
    cudaError_t code;
    cudaError_t (*call)(const On&);
};

std::ostream& operator<<(std::ostream& out, const Failing& call) {
    return out << call.name;
}

cudaError_t launch_with(const On& on, dim3 grid, dim3 block, std::size_t shared = 0) {
    Call call(store, on.data, 0, 1);
    return cudaLaunchKernel(call.function(), grid, block, call.arguments(), shared, on.stream);
}

cudaError_t launch_with(const On& on, unsigned grid, cudaLaunchAttributeID id, const Value& value) {
    Call call(store, on.data, 0, 1);
    cudaLaunchAttribute attribute{};
    attribute.id = id;
    attribute.val = value;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = 1;
    config.stream = on.stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, call.function(), call.arguments());
}

const Failing fatal[] = {
    {"an empty grid", cudaErrorInvalidValue, [](const On& on) { return launch_with(on, 0, 1); }},
    {"a block that is too large", cudaErrorInvalidValue, [](const On& on) { return launch_with(on, 1, 2000); }},
    {"too much shared memory", cudaErrorInvalidValue,
     [](const On& on) { return launch_with(on, 1, 1, std::size_t{1} << 20); }},
    {"a cooperative grid that is too large", cudaErrorCooperativeLaunchTooLarge,
     [](const On& on) { return launch_with(on, 1000000, cudaLaunchAttributeCooperative, cooperative_value()); }},
    {"clusters that do not fill the grid", cudaErrorInvalidClusterSize,
     [](const On& on) { return launch_with(on, 4, cudaLaunchAttributeClusterDimension, cluster_of(3)); }},
    {"cudaStreamSynchronize", cudaErrorStreamCaptureUnsupported,
     [](const On& on) { return cudaStreamSynchronize(on.stream); }},
    {"cudaStreamQuery", cudaErrorStreamCaptureUnsupported, [](const On& on) { return cudaStreamQuery(on.stream); }},
    {"cudaDeviceSynchronize", cudaErrorStreamCaptureUnsupported, [](const On&) { return cudaDeviceSynchronize(); }},
    {"cudaStreamGetFlags", cudaErrorStreamCaptureUnsupported,
     [](const On& on) {
         unsigned flags = 0;
         return cudaStreamGetFlags(on.stream, &flags);
     }},
    {"cudaStreamGetId", cudaErrorStreamCaptureUnsupported,
     [](const On& on) {
         unsigned long long id = 0;
         return cudaStreamGetId(on.stream, &id);
     }},
    {"cudaStreamGetDevice", cudaErrorStreamCaptureUnsupported,
     [](const On& on) {
         int device = 0;
         return cudaStreamGetDevice(on.stream, &device);
     }},
    {"cudaGraphLaunch of nothing", cudaErrorStreamCaptureUnsupported,
     [](const On& on) { return cudaGraphLaunch(nullptr, on.stream); }},
    {"cudaMemcpyPeerAsync", cudaErrorStreamCaptureUnsupported,
     [](const On& on) { return cudaMemcpyPeerAsync(on.data, 0, on.data + 4, 0, 4, on.stream); }},
    {"cudaStreamWaitEvent of null", cudaErrorInvalidResourceHandle,
     [](const On& on) { return cudaStreamWaitEvent(on.stream, nullptr, 0); }},
    {"an external wait for null", cudaErrorInvalidResourceHandle,
     [](const On& on) { return cudaStreamWaitEvent(on.stream, nullptr, cudaEventWaitExternal); }},
};

const Failing harmless[] = {
    {"cudaLaunchKernel of an ordinary function", cudaErrorInvalidResourceHandle,
     [](const On& on) {
         void* arguments[] = {nullptr};
         return cudaLaunchKernel(reinterpret_cast<const void*>(&not_a_kernel), 1, 1, arguments, 0, on.stream);
     }},
    {"cudaLaunchKernel of null", cudaErrorInvalidDeviceFunction,
     [](const On& on) { return cudaLaunchKernel(nullptr, 1, 1, nullptr, 0, on.stream); }},
    {"a launch without the arguments that its kernel takes", cudaErrorInvalidValue,
     [](const On& on) {
         const Call call(store, on.data, 0, 1);
         return cudaLaunchKernel(call.function(), 1, 1, nullptr, 0, on.stream);
     }},
    {"a launch with a programmatic event of null", cudaErrorInvalidResourceHandle,
     [](const On& on) { return launch_with(on, 1, cudaLaunchAttributeProgrammaticEvent, Value{}); }},
    {"a launch with a programmatic event that takes times", cudaErrorNotSupported,
     [](const On& on) {
         const Event event;
         Value value{};
         value.programmaticEvent.event = event;
         return launch_with(on, 1, cudaLaunchAttributeProgrammaticEvent, value);
     }},
    {"a launch with a programmatic event that is recorded externally", cudaErrorNotSupported,
     [](const On& on) {
         const Event event(cudaEventDisableTiming);
         Value value{};
         value.programmaticEvent.event = event;
         value.programmaticEvent.flags = cudaEventRecordExternal;
         return launch_with(on, 1, cudaLaunchAttributeProgrammaticEvent, value);
     }},
    {"a launch with a completion event that takes times", cudaErrorNotSupported,
     [](const On& on) {
         const Event event;
         Value value{};
         value.launchCompletionEvent.event = event;
         return launch_with(on, 1, cudaLaunchAttributeLaunchCompletionEvent, value);
     }},
    {"a launch with an unknown attribute", cudaErrorInvalidValue,
     [](const On& on) { return launch_with(on, 1, unnamed_attribute, Value{}); }},
    {"cudaMemcpyAsync to null", cudaErrorInvalidValue,
     [](const On& on) { return cudaMemcpyAsync(nullptr, on.data, 4, cudaMemcpyDeviceToDevice, on.stream); }},
    {"cudaMemcpyAsync of an unknown kind", cudaErrorInvalidMemcpyDirection,
     [](const On& on) { return cudaMemcpyAsync(on.data, on.data + 1, 4, static_cast<cudaMemcpyKind>(7), on.stream); }},
    {"cudaMemset2DAsync wider than its pitch", cudaErrorInvalidValue,
     [](const On& on) { return cudaMemset2DAsync(on.data, 4, 0, 16, 2, on.stream); }},
    {"cudaLaunchHostFunc of null", cudaErrorInvalidValue,
     [](const On& on) { return cudaLaunchHostFunc(on.stream, nullptr, nullptr); }},
    {"cudaFreeAsync of memory that was not allocated in order", cudaErrorInvalidValue,
     [](const On& on) { return cudaFreeAsync(on.data, on.stream); }},
    {"cudaMallocAsync into null", cudaErrorInvalidValue,
     [](const On& on) { return cudaMallocAsync(nullptr, 4, on.stream); }},
    {"cudaMallocAsync of too much", cudaErrorMemoryAllocation,
     [](const On& on) {
         void* data = nullptr;
         return cudaMallocAsync(&data, std::size_t{1} << 45, on.stream);
     }},
    {"cudaEventRecord of null", cudaErrorInvalidResourceHandle,
     [](const On& on) { return cudaEventRecord(nullptr, on.stream); }},
    {"an external record of null", cudaErrorInvalidResourceHandle,
     [](const On& on) { return cudaEventRecordWithFlags(nullptr, on.stream, cudaEventRecordExternal); }},
    {"cudaEventRecordWithFlags with an unknown flag", cudaErrorInvalidValue,
     [](const On& on) {
         const Event event;
         return cudaEventRecordWithFlags(event, on.stream, 8);
     }},
    {"cudaStreamWaitEvent with an unknown flag", cudaErrorInvalidValue,
     [](const On& on) {
         const Event event;
         return cudaStreamWaitEvent(on.stream, event, 9);
     }},
};

} // namespace

TEST_CASE("calls that a capture cannot take invalidate it", "[capture][errors]") {
    DeviceInts data(16);
    const auto mode = GENERATE(values(all_modes));
    const bool by_another_thread = GENERATE(false, true);
    for (const Failing& failing : fatal) {
        INFO(failing);
        Stream stream(cudaStreamNonBlocking);
        Capture capture(stream, mode);
        Call(store, data.data(), 0, 1).launch(stream);
        const auto run = [&] { REQUIRE_CUDA_ERROR(failing.code, failing.call({stream, data.data()})); };
        if (by_another_thread) {
            elsewhere(run);
        } else {
            run();
        }
        REQUIRE(invalidated(stream));
        capture.fail(cudaErrorStreamCaptureInvalidated);
    }
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(data.read() == std::vector<int>(16, poison));
}

TEST_CASE("calls that are refused for their arguments leave the capture as it was", "[capture][errors]") {
    DeviceInts data(16);
    const auto mode = GENERATE(values(all_modes));
    Stream stream(cudaStreamNonBlocking);
    Capture capture(stream, mode);
    Call call(store, data.data(), 0, 1);
    call.launch(stream);
    for (const Failing& failing : harmless) {
        INFO(failing);
        REQUIRE_CUDA_ERROR(failing.code, failing.call({stream, data.data()}));
        REQUIRE(captures(stream));
    }
    call.launch(stream);
    REQUIRE(places(capture.end()) == Places{{0, 1}});
}

TEST_CASE("a launch that is refused outside leaves a capture alone", "[capture][errors]") {
    Stream stream;
    Stream other(cudaStreamNonBlocking);
    Capture capture(stream);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, launch_with({other, nullptr}, 0, 1));
    REQUIRE(captures(stream));
    capture.end();
}

TEST_CASE("a fork's failing call invalidates the whole capture", "[capture][errors]") {
    Stream origin;
    Stream fork;
    Call call(nothing);
    const auto mode = GENERATE(values(all_modes));
    Capture capture(origin, mode);
    call.launch(origin);
    follow(fork, origin);
    SECTION("a question") {
        REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(fork));
    }
    SECTION("a synchronisation") {
        REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(fork));
    }
    SECTION("a launch") {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, launch_with({fork, nullptr}, 0, 1));
    }
    REQUIRE(invalidated(origin));
    REQUIRE(invalidated(fork));
    capture.fail(cudaErrorStreamCaptureInvalidated);
    REQUIRE(status_of(fork) == cudaStreamCaptureStatusNone);
}

TEST_CASE("an invalidated capture takes no work, and must be ended", "[capture][errors]") {
    Stream stream;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Event event;
    Capture capture(stream);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(stream));
    const cudaError_t code = cudaErrorStreamCaptureInvalidated;
    void* memory = nullptr;
    REQUIRE_CUDA_ERROR(code, cudaLaunchKernel(set.function(), 1, 1, set.arguments(), 0, stream));
    REQUIRE_CUDA_ERROR(code, cudaMemsetAsync(data.data(), 0, 4, stream));
    REQUIRE_CUDA_ERROR(code, cudaLaunchHostFunc(
                                 stream, [](void*) {}, nullptr));
    REQUIRE_CUDA_ERROR(code, cudaMallocAsync(&memory, 4, stream));
    REQUIRE_CUDA_ERROR(code, cudaEventRecord(event, stream));
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, cudaStreamBeginCapture(stream, relaxed));
    REQUIRE(invalidated(stream));
    capture.fail(code);
    set.launch(stream);
    stream.synchronize();
    REQUIRE(data.read() == std::vector{1});
    Capture next(stream);
    set.launch(stream);
    REQUIRE(nodes_of(next.end()).size() == 1);
}

TEST_CASE("cudaDeviceSynchronize invalidates every capture of the device", "[capture][errors]") {
    Stream first;
    Stream second;
    Capture one(first, relaxed);
    Capture other(second, cudaStreamCaptureModeThreadLocal);
    elsewhere([] { REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaDeviceSynchronize()); });
    REQUIRE(invalidated(first));
    REQUIRE(invalidated(second));
    one.fail(cudaErrorStreamCaptureInvalidated);
    other.fail(cudaErrorStreamCaptureInvalidated);
    REQUIRE_CUDA(cudaDeviceSynchronize());
}

TEST_CASE("a graph is not launched into a capture: that invalidates it", "[capture][errors]") {
    Stream stream;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Graph graph;
    add_kernel(graph, set);
    const Exec exec(graph);
    const auto mode = GENERATE(values(all_modes));
    Capture capture(stream, mode);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaGraphLaunch(exec, stream));
    REQUIRE(invalidated(stream));
    capture.fail(cudaErrorStreamCaptureInvalidated);
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(data.read() == std::vector{poison});
    exec.run(stream);
    REQUIRE(data.read() == std::vector{1});
}

TEST_CASE("a graph is not uploaded by a captured stream: that invalidates the capture", "[capture][errors]") {
    Stream stream;
    Graph graph;
    add_empty(graph);
    const Exec exec(graph);
    Capture capture(stream, relaxed);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaGraphUpload(exec, stream));
    capture.fail(cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("a captured stream tells its priority", "[capture][errors]") {
    Stream stream;
    Capture capture(stream);
    int priority = -1;
    REQUIRE_CUDA(cudaStreamGetPriority(stream, &priority));
    REQUIRE(priority == 0);
    REQUIRE(captures(stream));
    capture.end();
}
