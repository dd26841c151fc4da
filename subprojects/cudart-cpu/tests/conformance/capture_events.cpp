// Events in a capture: recorded into it, waited for across its border, external ones.
#include "capture.hpp"
#include "gate.hpp"

#include <vector>

namespace {

cudaError_t question(cudaEvent_t event) {
    return cudaEventQuery(event);
}

cudaError_t wait_for(cudaEvent_t event) {
    return cudaEventSynchronize(event);
}

} // namespace

TEST_CASE("a captured event cannot be asked or waited for: that invalidates the capture", "[capture][events]") {
    Stream stream;
    Event event;
    Call call(nothing);
    const auto mode = GENERATE(values(all_modes));
    const auto ask = GENERATE(&question, &wait_for);
    Capture capture(stream, mode);
    call.launch(stream);
    REQUIRE_CUDA(cudaEventRecord(event, stream));
    SECTION("by the capturing thread") {
        REQUIRE_CUDA_ERROR(cudaErrorCapturedEvent, ask(event));
    }
    SECTION("by another thread") {
        elsewhere([&] { REQUIRE_CUDA_ERROR(cudaErrorCapturedEvent, ask(event)); });
    }
    REQUIRE(invalidated(stream));
    capture.fail(cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("a captured event has no time, and being asked for it does no harm", "[capture][events]") {
    Stream stream;
    Stream other;
    Event before;
    Event event;
    REQUIRE_CUDA(cudaEventRecord(before, other));
    other.synchronize();
    Capture capture(stream);
    REQUIRE_CUDA(cudaEventRecord(event, stream));
    float milliseconds = -1;
    REQUIRE_CUDA_ERROR(cudaErrorCapturedEvent, cudaEventElapsedTime(&milliseconds, before, event));
    REQUIRE_CUDA_ERROR(cudaErrorCapturedEvent, cudaEventElapsedTime(&milliseconds, event, event));
    REQUIRE(captures(stream));
    REQUIRE(nodes_of(capture.end()).empty());
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaEventElapsedTime(&milliseconds, before, event));
}

TEST_CASE("recording and waiting in a capture add no nodes", "[capture][events]") {
    Stream stream;
    Event event;
    Event unused;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    REQUIRE_CUDA(cudaEventRecord(event, stream));
    REQUIRE_CUDA(cudaStreamWaitEvent(stream, event, 0));
    // Never recorded: there is nothing to wait for.
    REQUIRE_CUDA(cudaStreamWaitEvent(stream, unused, 0));
    REQUIRE(captures(stream));
    REQUIRE(nodes_of(capture.end()).size() == 1);
}

TEST_CASE("a capture cannot wait for an event from outside: that invalidates it", "[capture][events]") {
    Stream stream;
    Stream other;
    Event event;
    Call call(nothing);
    REQUIRE_CUDA(cudaEventRecord(event, other));
    other.synchronize();
    const auto mode = GENERATE(values(all_modes));
    Capture capture(stream, mode);
    call.launch(stream);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(stream, event, 0));
    REQUIRE(invalidated(stream));
    capture.fail(cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("recording an event outside takes it out of the capture", "[capture][events]") {
    Stream stream;
    Stream other;
    Stream third;
    Event event;
    Capture capture(stream, relaxed);
    REQUIRE_CUDA(cudaEventRecord(event, stream));
    REQUIRE_CUDA(cudaEventRecord(event, other));
    REQUIRE_CUDA(cudaEventSynchronize(event));
    REQUIRE_CUDA(cudaStreamWaitEvent(third, event, 0));
    REQUIRE(status_of(third) == cudaStreamCaptureStatusNone);
    REQUIRE(captures(stream));
    capture.end();
}

TEST_CASE("an event of a capture that is over is good for nothing until it is recorded again", "[capture][events]") {
    Stream stream;
    Stream other;
    Event event;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    REQUIRE_CUDA(cudaEventRecord(event, stream));
    SECTION("ended") {
        capture.end();
    }
    SECTION("unjoined") {
        follow(other, stream);
        call.launch(other);
        capture.fail(cudaErrorStreamCaptureUnjoined);
    }
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaEventQuery(event));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaEventSynchronize(event));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamWaitEvent(other, event, 0));
    Capture next(stream);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamWaitEvent(stream, event, 0));
    REQUIRE(invalidated(stream));
    next.fail(cudaErrorStreamCaptureInvalidated);
    REQUIRE_CUDA(cudaEventRecord(event, other));
    REQUIRE_CUDA(cudaEventSynchronize(event));
}

TEST_CASE("an event of an invalidated capture brings no stream into it", "[capture][events]") {
    Stream stream;
    Stream other;
    Stream third;
    Event event;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    REQUIRE_CUDA(cudaEventRecord(event, stream));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamWaitEvent(other, event, 0));
    REQUIRE(status_of(other) == cudaStreamCaptureStatusNone);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaEventQuery(event));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, cudaEventRecord(event, stream));
    capture.fail(cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("a captured event may be destroyed at once", "[capture][events]") {
    Stream stream;
    Stream fork;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    follow(fork, stream);
    REQUIRE(captures(stream));
    call.launch(fork);
    follow(stream, fork);
    REQUIRE(places(capture.end()) == Places{{0, 1}});
}

TEST_CASE("an external record becomes a node, whose event the launch records", "[capture][events]") {
    Stream stream;
    Event event;
    Gate gate;
    Call call(nothing);
    Capture capture(stream);
    REQUIRE_CUDA(cudaLaunchHostFunc(stream, gate.node().fn, gate.node().userData));
    REQUIRE_CUDA(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
    call.launch(stream);
    const cudaGraph_t graph = capture.end();
    REQUIRE(types_of(graph) ==
            std::vector{cudaGraphNodeTypeHost, cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeKernel});
    REQUIRE(places(graph) == Places{{0, 1}, {1, 2}});
    cudaEvent_t recorded = nullptr;
    REQUIRE_CUDA(cudaGraphEventRecordNodeGetEvent(nodes_of(graph)[1], &recorded));
    REQUIRE(recorded == event);
    const Exec exec(graph);
    REQUIRE_CUDA(cudaEventQuery(event));
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    REQUIRE_NOT_READY(cudaEventQuery(event));
    gate.open();
    REQUIRE_CUDA(cudaEventSynchronize(event));
    stream.synchronize();
}

TEST_CASE("an external wait becomes a node, also for an event from outside", "[capture][events]") {
    Stream stream(cudaStreamNonBlocking);
    Stream other(cudaStreamNonBlocking);
    Event event;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Gate gate;
    REQUIRE_CUDA(cudaEventRecord(event, other));
    other.synchronize();
    Capture capture(stream);
    REQUIRE_CUDA(cudaStreamWaitEvent(stream, event, cudaEventWaitExternal));
    plus.launch(stream);
    const cudaGraph_t graph = capture.end();
    REQUIRE(types_of(graph) == std::vector{cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeKernel});
    REQUIRE(places(graph) == Places{{0, 1}});
    const Exec exec(graph);
    gate.block(other);
    set.launch(other);
    REQUIRE_CUDA(cudaEventRecord(event, other));
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    REQUIRE_NOT_READY(cudaStreamQuery(stream));
    gate.open();
    stream.synchronize();
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("an external wait may be for an event that the capture records", "[capture][events]") {
    Stream stream;
    Event event;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    const bool external = GENERATE(false, true);
    REQUIRE_CUDA(cudaEventRecordWithFlags(event, stream, external ? cudaEventRecordExternal : cudaEventRecordDefault));
    REQUIRE_CUDA(cudaStreamWaitEvent(stream, event, cudaEventWaitExternal));
    const cudaGraph_t graph = capture.end();
    REQUIRE(types_of(graph).back() == cudaGraphNodeTypeWaitEvent);
    REQUIRE(nodes_of(graph).size() == (external ? 3 : 2));
}

TEST_CASE("an event that is recorded externally is no event of the capture", "[capture][events]") {
    Stream stream;
    Stream other;
    Event event;
    Capture capture(stream, relaxed);
    REQUIRE_CUDA(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
    // Never recorded, as yet.
    REQUIRE_CUDA(cudaEventQuery(event));
    REQUIRE_CUDA(cudaStreamWaitEvent(other, event, 0));
    REQUIRE(status_of(other) == cudaStreamCaptureStatusNone);
    REQUIRE_CUDA(cudaStreamWaitEvent(stream, event, 0));
    REQUIRE(captures(stream));
    REQUIRE(types_of(capture.end()) == std::vector{cudaGraphNodeTypeEventRecord});
}

TEST_CASE("external flags are for streams that capture", "[capture][events]") {
    Stream stream;
    Stream other;
    Event event;
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, cudaStreamWaitEvent(stream, event, cudaEventWaitExternal));
    Capture capture(stream);
    REQUIRE_CUDA(cudaEventRecord(event, stream));
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, cudaStreamWaitEvent(other, event, cudaEventWaitExternal));
    REQUIRE(status_of(other) == cudaStreamCaptureStatusNone);
    REQUIRE(captures(stream));
    capture.end();
}
