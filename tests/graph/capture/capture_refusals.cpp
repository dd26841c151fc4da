// cudag's own calls that a capture does not allow: a CaptureError that says where, and what to do instead.
#include <memory>
#include <utility>

#include "gate.hpp"
#include "usable.hpp"

using cudag::capture;
using cudag::CaptureError;
using cudag::CaptureMode;
using cudag::CaptureStatus;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::Event;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::launch;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

/// Calls `call(stream)` in a capture of `stream`, in a step. What is thrown names both, and says why.
CaptureError refused_in_capture(const Stream& stream, CallRef<const Stream&> call) {
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            c.step("fails", [&] {
                const auto inner = refused<CaptureError>([&] { call(stream); });
                CHECK(inner.location().line != 0);
                CHECK_THAT(inner.location().file, EndsWith("capture_refusals.cpp"));
                CHECK_THAT(inner.what(),
                           ContainsSubstring("capture_refusals.cpp:" + std::to_string(inner.location().line)));
                CHECK(c.status() == CaptureStatus::invalidated);
                throw inner;
            });
        }));
    });
    CHECK(error.labels() == Labels{"fails"});
    CHECK_THAT(error.what(), ContainsSubstring("step \"fails\" at "));
    CHECK(is_usable(stream));
    return error;
}

constexpr const char* take_from_a_pool = "allocate before the capture, take memory from a CapturePool, or allow the "
                                         "call with ThreadCaptureMode or CaptureMode::relaxed";
constexpr const char* wait_later =
    "it cannot be waited for, nor can others meanwhile: wait before the capture, or after "
    "the launch of the graph";

} // namespace

TEST_CASE("a buffer that is made in a capture is refused with where, and the way out", "[capture][errors]") {
    const Stream stream;
    SECTION("on the device") {
        const auto error = refused_in_capture(stream, [](const Stream&) { DeviceBuffer<int> buffer(4); });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
        CHECK_THAT(error.what(), ContainsSubstring("DeviceBuffer of 4 elements of 4 bytes at ") &&
                                     ContainsSubstring("cudaMalloc: ") && ContainsSubstring(take_from_a_pool));
    }
    SECTION("on the host") {
        const auto error = refused_in_capture(stream, [](const Stream&) { cudag::PinnedBuffer<int> buffer(4); });
        CHECK_THAT(error.what(), ContainsSubstring("PinnedBuffer of 4 elements of 4 bytes at ") &&
                                     ContainsSubstring("cudaMallocHost: ") && ContainsSubstring(take_from_a_pool));
    }
    SECTION("of one value") {
        const auto error = refused_in_capture(stream, [](const Stream&) { cudag::DeviceScalar<int> scalar(4); });
        CHECK_THAT(error.what(), ContainsSubstring(take_from_a_pool));
    }
}

TEST_CASE("waiting for a captured stream is refused with where, and the way out", "[capture][errors]") {
    const Stream stream;
    SECTION("to the end") {
        const auto error = refused_in_capture(stream, [](const Stream& s) { s.synchronize(); });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
        CHECK(error.operation() == "cudaStreamSynchronize");
        CHECK_THAT(error.what(), ContainsSubstring("Stream::synchronize at ") && ContainsSubstring(wait_later));
    }
    SECTION("by asking") {
        const auto error = refused_in_capture(stream, [](const Stream& s) { static_cast<void>(s.query()); });
        CHECK_THAT(error.what(), ContainsSubstring("Stream::query at ") && ContainsSubstring(wait_later));
    }
}

TEST_CASE("waiting for another stream or an event in a capture is refused with where, and the way out",
          "[capture][errors]") {
    const Stream stream;
    const Stream other;
    Event event;
    event.record(other);
    other.synchronize();
    const auto check_text = [](const CaptureError& error, const char* call) {
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
        CHECK_THAT(error.what(), ContainsSubstring(call) && ContainsSubstring(wait_later) &&
                                     ContainsSubstring("allow it with ThreadCaptureMode or CaptureMode::relaxed"));
    };
    SECTION("a stream") {
        check_text(refused_in_capture(stream, [&](const Stream&) { other.synchronize(); }), "Stream::synchronize at ");
        check_text(refused_in_capture(stream, [&](const Stream&) { static_cast<void>(other.query()); }),
                   "Stream::query at ");
    }
    SECTION("an event") {
        check_text(refused_in_capture(stream, [&](const Stream&) { event.synchronize(); }), "Event::synchronize at ");
        check_text(refused_in_capture(stream, [&](const Stream&) { static_cast<void>(event.query()); }),
                   "Event::query at ");
    }
}

TEST_CASE("waiting for an event that was recorded in a capture is refused with where, and the way out",
          "[capture][errors]") {
    const Stream stream;
    Event event;
    const auto error = refused_in_capture(stream, [&](const Stream& s) {
        event.record(s);
        event.synchronize();
    });
    CHECK(error.code() == cuda_code(cudaErrorCapturedEvent));
    CHECK_THAT(error.what(),
               ContainsSubstring("Event::synchronize at ") && ContainsSubstring("record it again outside"));
}

TEST_CASE("the time since an event that was recorded in a capture is refused with where, and the way out",
          "[capture][errors]") {
    const Stream stream;
    Event event;
    {
        const StreamCapture capture(stream);
        event.record(stream);
        const auto error = refused<CaptureError>([&] { static_cast<void>(event.milliseconds_since(event)); });
        CHECK(error.code() == cuda_code(cudaErrorCapturedEvent));
        CHECK_THAT(error.what(), ContainsSubstring("Event::milliseconds_since at ") &&
                                     ContainsSubstring("capture_refusals.cpp:") &&
                                     ContainsSubstring("record it again outside"));
        CHECK(capture.status() == CaptureStatus::active);
    }
    CHECK(is_usable(stream));
}

TEST_CASE("calls that fail for other reasons than a capture are no CaptureErrors", "[capture][errors]") {
    const auto error = refused<cudag::Error>([] { DeviceBuffer<char> buffer(std::size_t{1} << 50U); });
    CHECK(error.code() == cuda_code(cudaErrorMemoryAllocation));
    CHECK(error.location().line == __LINE__ - 2);
    Event event({.timing = false});
    const auto untimed = refused<cudag::Error>([&] { static_cast<void>(event.milliseconds_since(event)); });
    CHECK(untimed.location().line == __LINE__ - 1);
}

TEST_CASE("a capture that was finished says so when it is used again", "[capture][errors]") {
    const Stream stream;
    StreamCapture capture(stream);
    launch(stream, {}, nothing);
    const Graph graph = std::move(capture).finish();
    const auto says_finished = ContainsSubstring("the capture has ended with its finish(), and records no more");
    CHECK_THAT(refused<CaptureError>([&] { capture.step("x", [] {}); }).what(),
               ContainsSubstring("step \"x\" at ") && says_finished);
    CHECK_THAT(refused<CaptureError>([&] { capture.mark("x"); }).what(), says_finished);
    CHECK_THAT(refused<CaptureError>([&] { capture.fork(Stream()); }).what(), says_finished);
    CHECK_THAT(refused<CaptureError>([&] { capture.join(Stream()); }).what(), says_finished);
    const auto owner = std::make_shared<int>(1);
    CHECK_THAT(refused<CaptureError>([&] { capture.retain(owner); }).what(),
               ContainsSubstring("retain: ") && says_finished);
    CHECK(owner.use_count() == 1);
}

TEST_CASE("a region whose capture the captured code has ended well leaves the builder as it was",
          "[capture][region][errors]") {
    const auto cell = device({0});
    const Stream stream;
    const bool throws = GENERATE(false, true);
    GraphBuilder b;
    const auto before = b.kernel({}, store, cell, 1);
    const auto capture_and_end = [&](GraphBuilder& builder) {
        builder.capture(stream, [&](cudaStream_t s) {
            launch(s, {}, store, cell, 9);
            cudaGraph_t graph = nullptr;
            check(cudaStreamEndCapture(s, &graph));
            if (throws) throw CaptureError(cudaErrorUnknown, "thrown");
        });
    };
    const auto error = refused<CaptureError>([&] { capture_and_end(b); });
    if (!throws)
        CHECK_THAT(error.what(),
                   ContainsSubstring("something other than its StreamCapture called cudaStreamEndCapture") &&
                       !ContainsSubstring("lost"));
    b.if_(b.condition(1), [&](GraphBuilder& body) { refused<CaptureError>([&] { capture_and_end(body); }); });
    b.kernel({}, add, cell, cell, 4).after(before);
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 3);
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cell) == std::vector{5});
}

TEST_CASE("a region whose capture the captured code has ended, and its graph destroyed, loses the graph by name",
          "[capture][region][errors]") {
    const Stream stream;
    GraphBuilder b;
    const auto error = refused<CaptureError>([&] {
        b.capture(stream, [](cudaStream_t s) {
            cudaGraph_t graph = nullptr;
            check(cudaStreamEndCapture(s, &graph));
            check(cudaGraphDestroy(graph));
        });
    });
    CHECK_THAT(
        error.what(),
        ContainsSubstring(
            "the graph under construction is lost with it, because the call that ended the capture destroyed it"));
    refused<cudag::GraphError>([&] { b.kernel({}, nothing); });
    CHECK(is_usable(stream));
}

TEST_CASE("a capture that captured code begins after it has ended the one that it was in is left alone",
          "[capture][errors]") {
    const Stream stream;
    cudaGraph_t graph = nullptr;
    refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](cudaStream_t s) {
            check(cudaStreamEndCapture(s, &graph));
            check(cudaGraphDestroy(graph));
            check(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
            launch(s, {}, nothing);
        }));
    });
    check(cudaStreamEndCapture(stream.get(), &graph));
    std::size_t count = 0;
    check(cudaGraphGetNodes(graph, nullptr, &count));
    CHECK(count == 1);
    check(cudaGraphDestroy(graph));
}
