// Every runtime call that fails in a capture, and what a capture that fails leaves behind.
#include "faults.hpp"
#include "kernels.hpp"
#include "live_counts.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>

#include <memory>
#include <stdexcept>

using cudag::Stream;
using cudag::StreamCapture;

namespace {

/// A capture that uses all that there is.
struct Recorder {
    Stream stream;
    Stream side;
    std::shared_ptr<cudag::DeviceBuffer<int>> x = std::make_shared<cudag::DeviceBuffer<int>>(4);

    [[nodiscard]] cudag::Graph record() const {
        return cudag::capture(stream, [&](StreamCapture& c) {
            c.retain(x);
            c.step("first", [&](cudaStream_t s) { cudag::launch(s, {}, multiply_add, x, x, 4, 1); });
            c.fork(side);
            cudag::memset_async(side, *x, 1);
            c.join(side);
            c.mark("side");
        });
    }

    /// An end that was made to fail has not ended the capture in CUDA, as a real one does.
    void end() const {
        cudaStreamCaptureStatus status{};
        REQUIRE(cudaStreamIsCapturing(stream.get(), &status) == cudaSuccess);
        if (status == cudaStreamCaptureStatusNone) return;
        cudaGraph_t graph = nullptr;
        if (cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess) REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
        static_cast<void>(cudaGetLastError());
    }
};

} // namespace

TEST_CASE("a capture in which a call fails is dropped as a whole", "[unit][faults]") {
    const Recorder recorder;
    static_cast<void>(recorder.record()); // the calls that a process makes once
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    const Faults faults = for_every_call_failing([&] { return recorder.record(); },
                                                 [&] {
                                                     recorder.end();
                                                     CHECK(recorder.record().node_count() == 2);
                                                 });
    CHECK(faults.thrown > 10);
    const cudart_cpu::LiveCounts after = cudart_cpu::live();
    CHECK(after.graphs == before.graphs);
    CHECK(after.user_objects == before.user_objects);
    CHECK(after.events == before.events + 2); // the two whose destruction was made to fail
}

TEST_CASE("a capture in which writing a node fails is dropped as a whole", "[unit][faults]") {
    const Recorder recorder;
    const auto record = [&] {
        return cudag::capture(recorder.stream, [&](StreamCapture& c) {
            cudag::launch(c.stream(), {}, multiply_add, recorder.x, recorder.x, 4, 1);
            c.kernel({}, multiply_add, recorder.x, recorder.x, 4, 1).label("written");
            const cudag::Condition condition = c.condition(1);
            c.if_(condition, [&](cudag::GraphBuilder& body) { body.memset(*recorder.x, 1); });
            c.repeat(2, [&](cudag::GraphBuilder& body) { body.memset(*recorder.x, 1); });
            cudag::memset_async(recorder.stream, *recorder.x, 1);
        });
    };
    static_cast<void>(record());
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    const Faults faults = for_every_call_failing(record, [&] {
        recorder.end();
        CHECK(record().node_count() == 5);
    });
    CHECK(faults.thrown > 30);
    const cudart_cpu::LiveCounts after = cudart_cpu::live();
    CHECK(after.graphs == before.graphs);
    CHECK(after.user_objects == before.user_objects);
}

TEST_CASE("a record or a wait whose call fails is not in the capture", "[unit][faults]") {
    const Recorder recorder;
    cudag::Event event;
    StreamCapture capture(recorder.stream);
    const auto add = [&] { capture.record(event); };
    const auto wait = [&] { capture.wait(event); };
    CHECK(for_every_call_failing(add).thrown >= 1);
    CHECK(for_every_call_failing(wait).thrown >= 1);
    CHECK(std::move(capture).finish().node_count() == 2);
}

TEST_CASE("a captured function that fails half-way leaves nothing behind", "[unit][faults]") {
    const Recorder recorder;
    const NothingLeft check;
    CHECK_THROWS_AS(cudag::capture(recorder.stream,
                                   [&](StreamCapture& c) {
                                       c.retain(std::make_shared<int>(1), recorder.x);
                                       c.step("half", [&](cudaStream_t s) {
                                           cudag::launch(s, {}, multiply_add, recorder.x, recorder.x, 4, 1);
                                           throw std::runtime_error("half-way");
                                       });
                                   }),
                    std::runtime_error);
}

TEST_CASE("a capture that is broken or not joined leaves nothing behind", "[unit][faults]") {
    const Recorder recorder;
    const NothingLeft check;
    CHECK_THROWS_AS(cudag::capture(recorder.stream,
                                   [&](cudaStream_t s) {
                                       cudag::launch(s, {}, multiply_add, recorder.x, recorder.x, 4, 1);
                                       static_cast<void>(cudaStreamSynchronize(s));
                                   }),
                    cudag::CaptureError);
    CHECK_THROWS_AS(cudag::capture(recorder.stream,
                                   [&](StreamCapture& c) {
                                       c.fork(recorder.side);
                                       cudag::memset_async(recorder.side, *recorder.x, 1);
                                   }),
                    cudag::CaptureError);
}

TEST_CASE("a capture that is refused at its end leaves nothing behind", "[unit][faults]") {
    const Recorder recorder;
    const NothingLeft check;
    CHECK_THROWS_AS(cudag::capture(recorder.stream, [&](StreamCapture& c) { c.retain(recorder.x); }),
                    cudag::CaptureError); // empty
    CHECK_THROWS_AS(cudag::capture(recorder.stream,
                                   [&](StreamCapture& c) {
                                       c.retain(recorder.x);
                                       cudag::memset_async(recorder.stream, *recorder.x, 1);
                                       static_cast<void>(cudaMemcpyAsync(nullptr, recorder.x->data(), 4,
                                                                         cudaMemcpyDeviceToDevice, c.stream()));
                                   }),
                    cudag::CaptureError); // an unread error
}

TEST_CASE("a region whose capture somebody else has ended leaves nothing behind", "[unit][faults]") {
    const Recorder recorder;
    const NothingLeft check;
    const bool destroys = GENERATE(false, true);
    cudag::GraphBuilder b;
    b.kernel({}, multiply_add, recorder.x, recorder.x, 4, 1);
    CHECK_THROWS_AS(b.capture(recorder.stream,
                              [&](cudaStream_t s) {
                                  cudag::launch(s, {}, multiply_add, recorder.x, recorder.x, 4, 1);
                                  cudaGraph_t graph = nullptr;
                                  cudag::check(cudaStreamEndCapture(s, &graph));
                                  if (destroys) cudag::check(cudaGraphDestroy(graph));
                              }),
                    cudag::CaptureError);
}
