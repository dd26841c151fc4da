// Captures that refuse work in the legacy default stream, and waits for the device, which break all.
#include <thread>

#include "cuda_version.hpp"
#include "graphed.hpp"

using cudag::capture;
using cudag::CaptureError;
using cudag::CaptureMode;
using cudag::CaptureOptions;
using cudag::check;
using cudag::Graph;
using cudag::launch;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

constexpr CaptureOptions refusing{.refuse_legacy_stream = true};

/// Clears `cell` by a call that has no stream.
cudaError_t clear(const cudag::DeviceBuffer<int>& cell) {
    return cudaMemset(cell.data(), 0, sizeof(int));
}

struct Blocking {
    Blocking() { check(cudaStreamCreate(&stream)); }
    ~Blocking() { cudaStreamDestroy(stream); }
    Blocking(const Blocking&) = delete;
    Blocking& operator=(const Blocking&) = delete;
    cudaStream_t stream = nullptr;
};

} // namespace

TEST_CASE("a capture that refuses the legacy stream names the step that used it, and nothing has run",
          "[capture][legacy][errors]") {
    const Stream own;
    const Blocking blocking;
    const auto mode = GENERATE(CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed);
    for (const cudaStream_t stream : {own.get(), blocking.stream, cudaStreamPerThread}) {
        const auto cell = device({7});
        const auto error = refused<CaptureError>([&] {
            static_cast<void>(capture(stream,
                                      [&](StreamCapture& c) {
                                          c.step("fine", [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 1); });
                                          c.step("default stream", [&] { check(clear(cell)); });
                                      },
                                      {.mode = mode, .refuse_legacy_stream = true}));
        });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureImplicit));
        CHECK(error.labels() == Labels{"default stream"});
        CHECK_THAT(error.what(), ContainsSubstring("the legacy default stream waits for every blocking stream") &&
                                     ContainsSubstring("give the call the stream that is captured"));
        CHECK(read(cell) == std::vector{7});
        CHECK(is_usable(stream));
    }
}

TEST_CASE("work in the legacy stream that nobody checks is told at the end", "[capture][legacy][errors]") {
    const Stream stream;
    const auto cell = device({7});
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(
            stream,
            [&](cudaStream_t s) {
                launch(s, {}, store, cell.data(), 1);
                static_cast<void>(clear(cell));
            },
            refusing));
    });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureImplicit));
    CHECK_THAT(error.what(),
               ContainsSubstring("the capture was broken") && ContainsSubstring("the legacy default stream"));
    CHECK(read(cell) == std::vector{7});
}

TEST_CASE("work of another thread in the legacy stream is refused there, and told as another thread's",
          "[capture][legacy][errors]") {
    const Stream stream;
    const auto cell = device({7});
    cudaError_t there = cudaSuccess;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(
            stream,
            [&](cudaStream_t s) {
                launch(s, {}, store, cell.data(), 1);
                std::thread([&] { there = clear(cell); }).join();
            },
            refusing));
    });
    CHECK(there == cudaErrorStreamCaptureImplicit);
    CHECK(error.code() == code_of_broken(cudaErrorStreamCaptureImplicit));
    CHECK_THAT(error.what(), ContainsSubstring("the capture was broken" + logged(" by ")) &&
                                 ContainsSubstring(logged(", called on another thread")));
    CHECK(read(cell) == std::vector{7});
}

TEST_CASE("a capture that refuses the legacy stream records as any other", "[capture][legacy]") {
    const auto cells = device({0, 0});
    const Stream stream;
    const Stream side;
    const auto record = [&](StreamCapture& c) {
        launch(c.stream(), {}, store, cells.data(), 4);
        c.fork(side);
        launch(side, {}, add, cells.data() + 1, cells.data(), 1);
        c.join(side);
        launch(c.stream(), {}, add, cells.data(), cells.data() + 1, 1);
    };
    const Graph plain = capture(stream, record), refusing_graph = capture(stream, record, refusing);
    CHECK(diff(plain, refusing_graph).empty());
    cudag::Exec exec = refusing_graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{6, 5});
}

TEST_CASE("the legacy stream is free once a capture that refused it has ended, well or not", "[capture][legacy]") {
    const auto cell = device({7});
    const Stream stream;
    {
        const StreamCapture dropped(stream, refusing);
        CHECK(clear(cell) == cudaErrorStreamCaptureImplicit);
        static_cast<void>(cudaGetLastError());
    }
    check(clear(cell));
    StreamCapture capture(stream, refusing);
    launch(stream, {}, store, cell.data(), 4);
    const Graph graph = std::move(capture).finish();
    check(clear(cell));
    CHECK(read(cell) == std::vector{0});
}

TEST_CASE("a capture that refused the legacy stream and recorded nothing does not blame it",
          "[capture][legacy][errors]") {
    const Stream stream;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(
            stream, [](cudaStream_t) {}, refusing));
    });
    CHECK_THAT(error.what(), ContainsSubstring("nothing was recorded: ") &&
                                 ContainsSubstring("work in another stream runs at once there. Give each") &&
                                 !ContainsSubstring("legacy default stream"));
}

TEST_CASE("by default work in the legacy stream escapes a capture, and runs at once", "[capture][legacy]") {
    const auto cell = device({7});
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        launch(s, {}, nothing);
        check(clear(cell));
    });
    CHECK(graph.node_count() == 1);
    CHECK(read(cell) == std::vector{0});
}

TEST_CASE("regions of builders and graphed functions refuse the legacy stream, too", "[capture][legacy]") {
    const auto cell = device({7});
    const Stream stream;
    const auto work = [&](cudaStream_t s) {
        launch(s, {}, store, cell.data(), 1);
        check(clear(cell));
    };
    cudag::GraphBuilder b;
    b.kernel({}, store, cell.data(), 3);
    const auto region = refused<CaptureError>([&] { b.capture(stream, work, refusing); });
    CHECK(region.code() == cuda_code(cudaErrorStreamCaptureImplicit));
    run(std::move(b));
    CHECK(read(cell) == std::vector{3});

    cudag::GraphedFunction f(work, {.warm_up_runs = 0, .capture = refusing});
    const auto graphed = refused<CaptureError>([&] { f.forward(stream); });
    CHECK(graphed.code() == cuda_code(cudaErrorStreamCaptureImplicit));
    CHECK(read(cell) == std::vector{3});
}

TEST_CASE("a wait for the device on another thread breaks a capture in every mode, and is told so",
          "[capture][errors]") {
    const Stream stream;
    const auto mode = GENERATE(CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed);
    cudaError_t there = cudaSuccess;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream,
                                  [&](StreamCapture& c) {
                                      c.step("disturbed", [&](cudaStream_t s) {
                                          launch(s, {}, nothing);
                                          std::thread([&] { there = cudaDeviceSynchronize(); }).join();
                                      });
                                  },
                                  {.mode = mode}));
    });
    CHECK(there == cudaErrorStreamCaptureUnsupported);
    CHECK(error.labels() == Labels{"disturbed"});
    CHECK_THAT(error.what(), ContainsSubstring(logged(", called on another thread")) &&
                                 ContainsSubstring(logged("a wait for the whole device breaks the captures of all its "
                                                          "streams, whichever thread waits, in every mode")));
    if (!has_log())
        CHECK_THAT(error.what(), ContainsSubstring("such as cudaDeviceSynchronize, which breaks captures in every"));
    CHECK(is_usable(stream));
}
