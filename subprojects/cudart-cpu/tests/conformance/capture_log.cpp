// What CUDA's log says about a call that captures do not allow.
#include "capture.hpp"
#include "listener.hpp"

#include <string>
#include <utility>
#include <vector>

namespace {

const std::string by_this_thread =
    "API call conflicts with a stream capture sequence initiated from the calling thread";
const std::string by_another_thread = "API call conflicts with a stream capture sequence initiated from another thread";
const std::string invalidated_before = "Capture was invalidated by a prior API call";
const std::string unjoined = "Capture sequence contains a fork that was not joined to the primary stream";
const std::string not_capturing = "Stream is not actively capturing";
const std::string captured_event = "Recorded event not allowed on stream";
const std::string dead_event = "Event is not valid. This can be related to a graph capture that is no longer running";
const std::string legacy = "Call cannot be made against CU_STREAM_LEGACY while a blocking stream in the same context "
                           "is capturing";

/// The first line that the failing call logs.
template <class Call>
std::string reason(cudaError_t code, Call&& call) {
    const Listener listener;
    REQUIRE_CUDA_ERROR(code, call());
    const std::vector<std::string> texts = listener.texts();
    REQUIRE_FALSE(texts.empty());
    return texts.front();
}

cudaError_t end(cudaStream_t stream) {
    return cudaStreamEndCapture(stream, nullptr);
}

} // namespace

TEST_CASE("the log says whose capture an unsafe call meets", "[capture][log]") {
    Stream stream;
    Capture capture(stream);
    void* data = nullptr;
    const auto allocate = [&] { return cudaMalloc(&data, 64); };
    SECTION("this thread's") {
        REQUIRE(reason(cudaErrorStreamCaptureUnsupported, allocate) == by_this_thread);
    }
    SECTION("another thread's") {
        elsewhere([&] { REQUIRE(reason(cudaErrorStreamCaptureUnsupported, allocate) == by_another_thread); });
    }
    REQUIRE(reason(cudaErrorStreamCaptureInvalidated, [&] { return end(stream); }) == invalidated_before);
}

TEST_CASE("the log says why a capture cannot be ended", "[capture][log]") {
    Stream stream;
    Stream fork;
    Call call(nothing);
    REQUIRE(reason(cudaErrorIllegalState, [&] { return end(stream); }) == not_capturing);
    Capture capture(stream);
    call.launch(stream);
    SECTION("not joined") {
        follow(fork, stream);
        call.launch(fork);
        REQUIRE(reason(cudaErrorStreamCaptureUnjoined, [&] { return end(stream); }) == unjoined);
    }
    SECTION("on a fork") {
        follow(fork, stream);
        REQUIRE(reason(cudaErrorStreamCaptureUnmatched, [&] { return end(fork); }) ==
                "Capture was not initiated on hStream");
    }
    SECTION("by another thread") {
        elsewhere([&] {
            REQUIRE(reason(cudaErrorStreamCaptureWrongThread, [&] { return end(stream); }) ==
                    "CU_STREAM_CAPTURE_MODE_RELAXED is required to begin and end the capture on different threads");
        });
    }
}

TEST_CASE("the log says what is wrong with a captured event", "[capture][log]") {
    Stream stream;
    Stream other;
    Event event;
    Capture capture(stream);
    REQUIRE_CUDA(cudaEventRecord(event, stream));
    REQUIRE(reason(cudaErrorCapturedEvent, [&] { return cudaEventQuery(event); }) == captured_event);
    REQUIRE(reason(cudaErrorInvalidValue, [&] { return cudaStreamWaitEvent(other, event, 0); }) == dead_event);
    capture.fail(cudaErrorStreamCaptureInvalidated);
    REQUIRE(reason(cudaErrorInvalidValue, [&] { return cudaEventSynchronize(event); }) == dead_event);
    REQUIRE(reason(cudaErrorIllegalState, [&] {
                return cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal);
            }) == "CU_EVENT_RECORD_EXTERNAL flag is set but stream is not capturing");
}

TEST_CASE("the log says why the legacy stream is of no use", "[capture][log]") {
    Stream stream;
    Capture capture(stream);
    auto status = cudaStreamCaptureStatusNone;
    REQUIRE(reason(cudaErrorStreamCaptureImplicit, [&] { return cudaStreamIsCapturing(nullptr, &status); }) == legacy);
    REQUIRE(reason(cudaErrorStreamCaptureImplicit, [] { return cudaStreamSynchronize(nullptr); }) == legacy);
}

TEST_CASE("the log says that a graph is captured into", "[capture][log]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    const cudaGraph_t graph = info_of(stream).graph;
    REQUIRE(reason(cudaErrorIllegalState, [&] { return cudaGraphDestroy(graph); }) ==
            "Cannot destroy a graph while it is being captured to");
    REQUIRE(reason(cudaErrorIllegalState, [&] { return cudaGraphDestroyNode(nodes_of(graph)[0]); }) ==
            "Cannot remove nodes from a graph while it is being captured to");
}

TEST_CASE("the log says what is wrong with a launch that a capture does not survive", "[capture][log]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream, relaxed);
    REQUIRE(reason(cudaErrorInvalidValue, [&] {
                return cudaLaunchKernel(call.function(), 0, 1, call.arguments(), 0, stream);
            }) == "Grid Dimension X must be nonzero");
    REQUIRE(invalidated(stream));
}

TEST_CASE("the log has the numbers of a launch that breaks a capture, and its last error stays", "[capture][log]") {
    struct Refused {
        dim3 grid;
        dim3 block;
        std::size_t shared;
        const char* reason;
    };
    const auto launch = GENERATE(
        Refused{1, 2048, 0,
                "One or more of block dimensions of (2048,1,1) exceeds correspsonding maximum value of "
                "(1024,1024,64)"},
        Refused{0, 1, 0, "Grid Dimension X must be nonzero"},
        Refused{1, 1, std::size_t{1} << 20,
                "Requested dynamic shared memory size of 1048576 bytes exceeds maximum dynamic shared memory size of "
                "49152 bytes"});
    const auto mode = GENERATE(cudaStreamCaptureModeThreadLocal, relaxed);
    Stream stream(cudaStreamNonBlocking);
    Call call(nothing);
    Capture capture(stream, mode);
    const Listener listener;
    REQUIRE(cudaLaunchKernel(call.function(), launch.grid, launch.block, call.arguments(), launch.shared, stream) ==
            cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
    REQUIRE(listener.texts() ==
            std::vector<std::string>{launch.reason, "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLaunchKernel"});
    REQUIRE(invalidated(stream));
    capture.fail(cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("a captured copy to or from null fails, is logged, and leaves no node", "[capture][log]") {
    const auto mode = GENERATE(cudaStreamCaptureModeThreadLocal, relaxed);
    Stream stream(cudaStreamNonBlocking);
    DeviceInts data(4);
    Capture capture(stream, mode);
    const Listener listener;
    using Direction = std::pair<cudaMemcpyKind, std::string>;
    const auto [kind, function] = GENERATE(Direction{cudaMemcpyDefault, "cuMemcpyAsync"},
                                           Direction{cudaMemcpyHostToDevice, "cuMemcpyHtoDAsync_v2"},
                                           Direction{cudaMemcpyDeviceToHost, "cuMemcpyDtoHAsync_v2"},
                                           Direction{cudaMemcpyDeviceToDevice, "cuMemcpyDtoDAsync_v2"});
    CAPTURE(function);
    SECTION("to") {
        REQUIRE(cudaMemcpyAsync(nullptr, data.data(), 4, kind, stream) == cudaErrorInvalidValue);
    }
    SECTION("from") {
        REQUIRE(cudaMemcpyAsync(data.data(), nullptr, 4, kind, stream) == cudaErrorInvalidValue);
    }
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
    REQUIRE(listener.texts() == std::vector<std::string>{
                                    "Null address specified",
                                    "Returning 1 (CUDA_ERROR_INVALID_VALUE) from " + function,
                                });
    REQUIRE(captures(stream));
    REQUIRE(nodes_of(capture.end()).empty());
}

TEST_CASE("what a capture does not see succeeds at once, with neither node, error nor log", "[capture][log]") {
    const auto mode = GENERATE(cudaStreamCaptureModeThreadLocal, relaxed);
    Stream stream(cudaStreamNonBlocking);
    DeviceInts data(4);
    const std::vector<int> host{5, 6};
    Call call(store, data.data(), 2, 7);
    Capture capture(stream, mode);
    const Listener listener;
    REQUIRE_CUDA(cudaMemcpy(data.data(), host.data(), 8, cudaMemcpyHostToDevice));
    REQUIRE_CUDA(cudaMemcpy(data.data() + 3, data.data(), 4, cudaMemcpyDeviceToDevice));
    REQUIRE_CUDA(cudaMemcpyAsync(data.data() + 1, data.data(), 4, cudaMemcpyDeviceToDevice, nullptr));
    call.launch(nullptr);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
    REQUIRE(listener.lines.empty());
    REQUIRE(captures(stream));
    REQUIRE(nodes_of(capture.end()).empty());
    REQUIRE_CUDA(cudaStreamSynchronize(nullptr));
    REQUIRE(data.read() == std::vector{5, 5, 7, 5});
}

TEST_CASE("a captured memset of null is a node", "[capture][log]") {
    Stream stream;
    Capture capture(stream);
    const Listener listener;
    REQUIRE_CUDA(cudaMemsetAsync(nullptr, 0, 4, stream));
    REQUIRE(listener.lines.empty());
    REQUIRE(nodes_of(capture.end()).size() == 1);
}

TEST_CASE("a cudaMalloc that breaks a capture says so in the log, and its last error stays", "[capture][log]") {
    Stream stream(cudaStreamNonBlocking);
    Capture capture(stream, cudaStreamCaptureModeThreadLocal);
    const Listener listener;
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, 16) == cudaErrorStreamCaptureUnsupported);
    REQUIRE(cudaGetLastError() == cudaErrorStreamCaptureUnsupported);
    REQUIRE(listener.texts() ==
            std::vector<std::string>{by_this_thread,
                                     "Returning 900 (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) from cuMemAlloc_v2"});
    capture.fail(cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("the log says what is wrong with a call that a captured stream refuses for its arguments", "[capture][log]") {
    Stream stream;
    Event timed;
    Event untimed(cudaEventDisableTiming);
    Call call(nothing);
    Capture capture(stream);
    cudaLaunchAttribute attribute{};
    cudaLaunchConfig_t config{};
    config.gridDim = 1;
    config.blockDim = 1;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    const auto launch = [&] { return cudaLaunchKernelExC(&config, call.function(), call.arguments()); };
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    REQUIRE(reason(cudaErrorInvalidResourceHandle, launch) == "Event handle is NULL");
    attribute.val.programmaticEvent.event = timed;
    REQUIRE(reason(cudaErrorNotSupported, launch) ==
            "Programmatic Dependent Launch event recording must be simple local events without timing.");
    attribute.val.programmaticEvent.event = untimed;
    attribute.val.programmaticEvent.flags = cudaEventRecordExternal;
    REQUIRE(reason(cudaErrorNotSupported, launch) ==
            "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT does not support external capture");
    attribute = {};
    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    attribute.val.launchCompletionEvent.event = timed;
    REQUIRE(reason(cudaErrorNotSupported, launch) ==
            "Launch Completion event recording must be simple local events without timing.");
    REQUIRE(captures(stream));
    REQUIRE(reason(cudaErrorInvalidResourceHandle, [&] { return cudaStreamWaitEvent(stream, nullptr, 0); }) ==
            "Event handle is NULL");
    REQUIRE(invalidated(stream));
}

TEST_CASE("the log says why the memory of a captured memset is refused", "[capture][log]") {
    Stream stream;
    Capture capture(stream);
    REQUIRE_CUDA(cudaMemsetAsync(reinterpret_cast<void*>(0x1234), 0, 4, stream));
    const cudaGraph_t graph = capture.end();
    cudaGraphExec_t exec = nullptr;
    REQUIRE(reason(cudaErrorInvalidValue, [&] { return cudaGraphInstantiate(&exec, graph, 0); }) ==
            "invalid memset range - no allocation found and cudaDevAttrPageableMemoryAccess is false");
}
