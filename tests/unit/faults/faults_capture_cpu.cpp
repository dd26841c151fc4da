// Every runtime call that fails in a capture, and what a capture that fails leaves behind.
#include "allocation_faults.hpp"
#include "faults.hpp"
#include "kernels.hpp"
#include "live_counts.hpp"
#include "thrown.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>

#include <memory>
#include <optional>
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

/// A thread whose call that restores its capture mode was made to fail stays relaxed.
void be_strict() {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
}

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
    CHECK(after.events == before.events + 1); // the one whose destruction was made to fail
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

TEST_CASE("what was written into a capture whose end fails is refused from then on", "[unit][faults]") {
    const Recorder recorder;
    std::optional<StreamCapture> capture;
    cudag::Node node;
    const auto finish = [&] { return std::move(*capture).finish(); };
    const auto begin = [&] {
        capture.emplace(recorder.stream);
        capture->retain(recorder.x);
        node = capture->kernel({}, multiply_add, recorder.x, recorder.x, 4, 1);
    };
    const auto verify = [&] {
        if (capture->status() != cudag::CaptureStatus::active) CHECK_THROWS_AS(node.label(), cudag::GraphError);
        capture.reset();
        recorder.end();
    };
    CHECK(for_every_call_failing(finish, verify, begin).thrown > 3);
}

TEST_CASE("the call that broke a capture is named, though what throws after it has its code", "[unit][faults]") {
    be_strict();
    const Recorder recorder;
    StreamCapture capture(recorder.stream);
    const auto error = thrown<cudag::CaptureError>([&] {
        capture.step("frame", [&] {
            void* memory = nullptr;
            CHECK(cudaMalloc(&memory, 4) == cudaErrorStreamCaptureUnsupported);
            cudart_cpu::fail_call(1, cudaErrorStreamCaptureUnsupported);
            cudag::memset_async(recorder.stream, *recorder.x, 1);
        });
    });
    cudart_cpu::fail_call(0, cudaSuccess);
    CHECK(error.operation() == "cuMemAlloc_v2");
    CHECK_THAT(error.what(), ContainsSubstring("the capture was broken by cuMemAlloc_v2: ") &&
                                 ContainsSubstring("; then ") && ContainsSubstring("fault injected"));
}

TEST_CASE("a step for which there is no memory is no part of the capture's name", "[unit][faults]") {
    be_strict();
    const Recorder recorder;
    StreamCapture capture(recorder.stream);
    unsigned failed = 0;
    for (std::size_t allocation = 1;; ++allocation) {
        bool is_in = false;
        const auto step = [&] {
            capture.step("lost, in a text that needs memory", [&] { is_in = true; }, {.allow_empty = true});
        };
        const std::optional<bool> fails = fails_without_allocation(allocation, step);
        if (!fails) break;
        if (*fails) ++failed;
        CAPTURE(allocation);
        CHECK(capture.status() == cudag::CaptureStatus::active);
        const auto refused = [&] { cudag::memset_async(recorder.side, *recorder.x, 1); };
        CHECK_THAT(thrown<cudag::CaptureError>(refused).what(),
                   ContainsSubstring("is not part of the capture at ") && !ContainsSubstring("lost"));
        CHECK_THROWS_AS(capture.step("told", [] {}), cudag::CaptureError); // what was refused
    }
    CHECK(failed >= 2);
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
