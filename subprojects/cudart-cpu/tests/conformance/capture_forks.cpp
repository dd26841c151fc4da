// Forks and joins: streams that events bring into a capture, and the edges that come of it.
#include "capture.hpp"

#include <vector>

TEST_CASE("an event takes another stream into the capture, and back", "[capture]") {
    Stream origin;
    Stream fork;
    DeviceInts data(2);
    Call set(store, data.data(), 0, 1);
    Call copy(copy_plus, data.data(), data.data() + 1, 1, 10);
    Call back(copy_plus, data.data() + 1, data.data(), 1, 100);
    Capture capture(origin);
    set.launch(origin);
    follow(fork, origin);
    REQUIRE(captures(fork));
    copy.launch(fork);
    follow(origin, fork);
    back.launch(origin);
    const cudaGraph_t graph = capture.end();
    REQUIRE(status_of(fork) == cudaStreamCaptureStatusNone);
    REQUIRE(places(graph) == Places{{0, 1}, {0, 2}, {1, 2}});
    Exec(graph).run(origin);
    REQUIRE(data.read() == std::vector{111, 11});
}

TEST_CASE("branches of a capture become branches of the graph", "[capture]") {
    Stream origin;
    Stream left;
    Stream right;
    Call call(nothing);
    Capture capture(origin);
    call.launch(origin); // 0
    follow(left, origin);
    follow(right, origin);
    call.launch(right);  // 1
    call.launch(left);   // 2
    call.launch(origin); // 3
    call.launch(right);  // 4
    follow(origin, right);
    follow(origin, left);
    call.launch(origin); // 5
    call.launch(origin); // 6
    const cudaGraph_t graph = capture.end();
    REQUIRE(places(graph) == Places{{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 5}, {3, 5}, {4, 5}, {5, 6}});
    Exec(graph).run(origin);
}

TEST_CASE("a fork of a fork joins through it", "[capture]") {
    Stream origin;
    Stream middle;
    Stream far;
    Call call(nothing);
    Capture capture(origin);
    call.launch(origin);
    follow(middle, origin);
    call.launch(middle);
    follow(far, middle);
    call.launch(far);
    follow(middle, far);
    follow(origin, middle);
    call.launch(origin);
    REQUIRE(places(capture.end()) == Places{{0, 1}, {0, 3}, {1, 2}, {1, 3}, {2, 3}});
}

TEST_CASE("a fork of a capture without nodes starts with nothing to wait for", "[capture]") {
    Stream origin;
    Stream fork;
    Call call(nothing);
    Capture capture(origin);
    follow(fork, origin);
    REQUIRE(captures(fork));
    call.launch(fork);
    follow(origin, fork);
    call.launch(origin);
    REQUIRE(places(capture.end()) == Places{{0, 1}});
}

TEST_CASE("a wait adds to what a stream waits for already, once", "[capture]") {
    Stream origin;
    Stream fork;
    Call call(nothing);
    Event event;
    Capture capture(origin);
    call.launch(origin);
    REQUIRE_CUDA(cudaEventRecord(event, origin));
    REQUIRE_CUDA(cudaStreamWaitEvent(origin, event, 0));
    REQUIRE(info_of(origin).next.size() == 1);
    call.launch(origin);
    REQUIRE_CUDA(cudaStreamWaitEvent(fork, event, 0));
    REQUIRE_CUDA(cudaStreamWaitEvent(fork, event, 0));
    const CaptureInfo info = info_of(fork);
    REQUIRE(info.next == Nodes{nodes_of(info.graph).at(0)});
    // An older event than the stream's own work counts too, though it orders nothing.
    REQUIRE_CUDA(cudaStreamWaitEvent(origin, event, 0));
    const Nodes nodes = nodes_of(info.graph);
    REQUIRE(info_of(origin).next == Nodes{nodes[1], nodes[0]});
    call.launch(origin);
    REQUIRE(places(capture.end()) == Places{{0, 1}, {0, 2}, {1, 2}});
}

TEST_CASE("what a stream waits for is in the order of the waits, its own work first", "[capture]") {
    Stream origin;
    Stream left;
    Stream right;
    Call call(nothing);
    Capture capture(origin);
    call.launch(origin); // 0
    follow(left, origin);
    follow(right, origin);
    call.launch(left);   // 1
    call.launch(right);  // 2
    call.launch(origin); // 3
    follow(origin, right);
    follow(origin, left);
    const CaptureInfo info = info_of(origin);
    const Nodes nodes = nodes_of(info.graph);
    REQUIRE(info.next == Nodes{nodes[3], nodes[2], nodes[1]});
    REQUIRE(nodes_of(capture.end()).size() == 4);
}

TEST_CASE("a wait is for what had been captured when the event was recorded", "[capture]") {
    Stream origin;
    Stream fork;
    Call call(nothing);
    Event event;
    Capture capture(origin);
    call.launch(origin);
    REQUIRE_CUDA(cudaEventRecord(event, origin));
    call.launch(origin);
    REQUIRE_CUDA(cudaStreamWaitEvent(fork, event, 0));
    call.launch(fork);
    REQUIRE_CUDA(cudaEventRecord(event, origin));
    REQUIRE_CUDA(cudaStreamWaitEvent(fork, event, 0));
    call.launch(fork);
    follow(origin, fork);
    REQUIRE(places(capture.end()) == Places{{0, 1}, {0, 2}, {1, 3}, {2, 3}});
}

TEST_CASE("a fork that is not joined makes the end fail, and every stream is free again", "[capture]") {
    Stream origin;
    Stream fork;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    const auto mode = GENERATE(values(all_modes));
    Capture capture(origin, mode);
    set.launch(origin);
    follow(fork, origin);
    set.launch(fork);
    SECTION("never") {}
    SECTION("before its last work") {
        follow(origin, fork);
        set.launch(fork);
    }
    capture.fail(cudaErrorStreamCaptureUnjoined);
    REQUIRE(status_of(fork) == cudaStreamCaptureStatusNone);
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(data.read() == std::vector{poison});
    set.launch(fork);
    fork.synchronize();
    plus.launch(origin);
    origin.synchronize();
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("a fork without work of its own need not be joined", "[capture]") {
    Stream origin;
    Stream fork;
    Call call(nothing);
    Capture capture(origin);
    call.launch(origin);
    follow(fork, origin);
    SECTION("the origin stands where it was") {}
    SECTION("the origin has gone on") {
        call.launch(origin);
    }
    capture.end();
    REQUIRE(status_of(fork) == cudaStreamCaptureStatusNone);
}

TEST_CASE("a capture is not ended on a fork: that invalidates it", "[capture]") {
    Stream origin;
    Stream fork;
    Call call(nothing);
    const auto mode = GENERATE(values(all_modes));
    Capture capture(origin, mode);
    call.launch(origin);
    follow(fork, origin);
    call.launch(fork);
    SECTION("not joined") {}
    SECTION("joined") {
        follow(origin, fork);
    }
    refuse_end(cudaErrorStreamCaptureUnmatched, fork);
    REQUIRE(invalidated(origin));
    REQUIRE(invalidated(fork));
    capture.fail(cudaErrorStreamCaptureInvalidated);
    REQUIRE(status_of(fork) == cudaStreamCaptureStatusNone);
    refuse_end(cudaErrorIllegalState, fork);
}

TEST_CASE("a fork cannot begin a capture of its own", "[capture]") {
    Stream origin;
    Stream fork;
    Capture capture(origin, relaxed);
    follow(fork, origin);
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, cudaStreamBeginCapture(fork, relaxed));
    REQUIRE(captures(origin));
    REQUIRE(captures(fork));
    capture.end();
}

TEST_CASE("an event stands for the capture that recorded it last", "[capture]") {
    Stream first;
    Stream second;
    Event event;
    Capture one(first);
    Capture other(second);
    REQUIRE_CUDA(cudaEventRecord(event, first));
    REQUIRE_CUDA(cudaEventRecord(event, second));
    REQUIRE_CUDA(cudaStreamWaitEvent(second, event, 0));
    REQUIRE(captures(first));
    REQUIRE(captures(second));
    one.end();
    other.end();
}

TEST_CASE("two captures cannot be joined: both are invalidated", "[capture]") {
    Stream first;
    Stream second;
    Call call(nothing);
    Capture one(first);
    Capture other(second);
    call.launch(first);
    call.launch(second);
    Event event;
    REQUIRE_CUDA(cudaEventRecord(event, first));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(second, event, 0));
    REQUIRE(invalidated(first));
    REQUIRE(invalidated(second));
    one.fail(cudaErrorStreamCaptureInvalidated);
    other.fail(cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("a fork's stream may go before the capture ends", "[capture]") {
    Stream origin;
    cudaStream_t fork = nullptr;
    Event done;
    REQUIRE_CUDA(cudaStreamCreate(&fork));
    Call call(nothing);
    Capture capture(origin);
    call.launch(origin);
    follow(fork, origin);
    call.launch(fork);
    REQUIRE_CUDA(cudaEventRecord(done, fork));
    SECTION("after its join") {
        REQUIRE_CUDA(cudaStreamWaitEvent(origin, done, 0));
        REQUIRE_CUDA(cudaStreamDestroy(fork));
    }
    SECTION("before its join") {
        REQUIRE_CUDA(cudaStreamDestroy(fork));
        REQUIRE_CUDA(cudaStreamWaitEvent(origin, done, 0));
    }
    REQUIRE(captures(origin));
    REQUIRE(places(capture.end()) == Places{{0, 1}});
}

TEST_CASE("destroying a fork does not join it", "[capture]") {
    Stream origin;
    cudaStream_t fork = nullptr;
    REQUIRE_CUDA(cudaStreamCreate(&fork));
    Call call(nothing);
    Capture capture(origin);
    call.launch(origin);
    follow(fork, origin);
    call.launch(fork);
    REQUIRE_CUDA(cudaStreamDestroy(fork));
    REQUIRE(captures(origin));
    capture.fail(cudaErrorStreamCaptureUnjoined);
}

TEST_CASE("a stream with pending work is taken into a capture at once", "[capture]") {
    Stream origin;
    Stream fork(cudaStreamNonBlocking);
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Call call(nothing);
    set.launch(fork);
    Capture capture(origin);
    call.launch(origin);
    follow(fork, origin);
    plus.launch(fork);
    follow(origin, fork);
    const cudaGraph_t graph = capture.end();
    REQUIRE(places(graph) == Places{{0, 1}});
    fork.synchronize();
    REQUIRE(data.read() == std::vector{1});
    Exec(graph).run(origin);
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("streams of all kinds are forked into a capture", "[capture]") {
    Stream origin;
    Stream blocking;
    Stream free(cudaStreamNonBlocking);
    Call call(nothing);
    Capture capture(origin);
    call.launch(origin);
    const cudaStream_t forks[] = {blocking, free, cudaStreamPerThread};
    const cudaStream_t fork = forks[GENERATE(0, 1, 2)];
    follow(fork, origin);
    REQUIRE(captures(fork));
    call.launch(fork);
    follow(origin, fork);
    REQUIRE(places(capture.end()) == Places{{0, 1}});
}

TEST_CASE("another thread forks a stream into the capture", "[capture]") {
    Stream origin;
    Stream fork;
    Call call(nothing);
    const auto mode = GENERATE(values(all_modes));
    Capture capture(origin, mode);
    call.launch(origin);
    elsewhere([&] {
        follow(fork, origin);
        call.launch(fork);
        follow(origin, fork);
    });
    REQUIRE(places(capture.end()) == Places{{0, 1}});
}
